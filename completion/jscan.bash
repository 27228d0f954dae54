# SPDX-License-Identifier: MIT
# Completion of jscan for bash. The options are those that jscan --help lists, so this knows of
# every one; what stands here are their values. Those that a journal holds are asked of the files
# that the command line names.

# Runs jscan on the files that the command line names so far, with the given arguments.
_jscan_ask() {
    local -a sources=()
    local i word
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
        -D | -i | --directory | --file | --root | --namespace)
            # A value behind = is three words, one behind a blank is two.
            [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++))
            ((i + 1 < COMP_CWORD)) && sources+=("$word" "$(_jscan_plain "${COMP_WORDS[++i]}")") ;;
        -D?* | -i?* | -m | --merge | --system | --user) sources+=("$word") ;;
        esac
    done
    "${COMP_WORDS[0]}" --no-pager -q "${sources[@]}" "$@" 2>/dev/null </dev/null
}

# A word without quotes, with the home directory in place of a tilde.
_jscan_plain() {
    local word=${1//[\\\"\']/}
    [[ $word == '~/'* ]] && word=$HOME/${word:2}
    printf %s "$word"
}

# The names of all options, a line for each, with = where a value has to follow.
_jscan_options() {
    "${COMP_WORDS[0]}" --no-pager --help 2>/dev/null |
        sed -nE 's/^ +(-[A-Za-z] )? *(--[a-z0-9-]+)(=?).*/\2\3/p'
}

# Offers those of the lines of $1 that begin with $2.
_jscan_offer() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        [[ -n $line && $line == "$2"* ]] && COMPREPLY+=("$(printf %q "$line")")
    done <<<"$1"
    return 0
}

# Offers the last item of a list that is separated by commas.
_jscan_offer_item() {
    local before=${2%"${2##*,}"} i
    _jscan_offer "$1" "${2##*,}"
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=$before${COMPREPLY[i]}; done
}

# Offers files or directories.
_jscan_offer_paths() {
    local line
    compopt -o filenames 2>/dev/null
    COMPREPLY=()
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$1" -- "$2")
    return 0
}

# Values of an option. Fails if the option has none.
_jscan_values() {
    local levels=$'emerg\nalert\ncrit\nerr\nwarning\nnotice\ninfo\ndebug'
    case $1 in
    -D | --directory | --root) _jscan_offer_paths -d "$2" ;;
    -i | --file | --cursor-file | --checkpoint | --trace) _jscan_offer_paths -f "$2" ;;
    -o | --output) _jscan_offer "$(_jscan_ask -o help)"$'\njson-stable' "$2" ;;
    --sink)
        if [[ $2 == *[:/]* ]]; then
            _jscan_offer_paths -f "${2#*:}"
        else
            _jscan_offer "$(_jscan_ask -o help)"$'\njson-stable\nsplit\nsqlite' "$2"
        fi ;;
    -p | --priority) _jscan_offer "$levels" "$2" ;;
    --facility) _jscan_offer_item "$(_jscan_ask --facility=help)" "$2" ;;
    -u | --unit | --status) _jscan_offer "$(_jscan_ask -F _SYSTEMD_UNIT)" "$2" ;;
    --user-unit) _jscan_offer "$(_jscan_ask -F _SYSTEMD_USER_UNIT)" "$2" ;;
    -t | --identifier | -T | --exclude-identifier)
        _jscan_offer "$(_jscan_ask -F SYSLOG_IDENTIFIER)" "$2" ;;
    -F | --field | --top) _jscan_offer "$(_jscan_ask -N)" "$2" ;;
    --output-fields) _jscan_offer_item "$(_jscan_ask -N)" "$2" ;;
    -b | --boot)
        _jscan_offer "$(_jscan_ask --list-boots | sed -E 's/^ *(-?[0-9]+) ([0-9a-f]+).*/\1\n\2/')
all" "$2" ;;
    --namespace) _jscan_offer "$(_jscan_ask --list-namespaces)" "$2" ;;
    --case-sensitive) _jscan_offer $'yes\nno' "$2" ;;
    --gaps) _jscan_offer_item $'missing\nclock-step\nnot-closed\nheader' "$2" ;;
    --io) _jscan_offer $'auto\nuring\nthreads\nsync' "$2" ;;
    --cache) _jscan_offer $'keep\ndrop\ndirect' "$2" ;;
    --plan) _jscan_offer $'auto\nscan' "$2" ;;
    --stats) _jscan_offer $'text\njson' "$2" ;;
    --compress) _jscan_offer $'zstd\nlz4' "$2" ;;
    --text) _jscan_offer $'strict\nlenient' "$2" ;;
    -S | --since | -U | --until) _jscan_offer $'now\ntoday\nyesterday\ntomorrow' "$2" ;;
    -n | --lines) _jscan_offer $'all' "$2" ;;
    -[cgM] | --cursor | --after-cursor | --grep | --invocation | --verify-key | --memory | --limit-rate | \
        --jobs) COMPREPLY=() ;; # nothing is known of these
    *) return 1 ;;
    esac
}

# A match, FIELD=VALUE, or a file.
_jscan_argument() {
    _jscan_offer_paths -f "$1"
    [[ $1 == /* || $1 == ./* ]] && return
    local line files=${#COMPREPLY[@]}
    while IFS= read -r line; do
        [[ -n $line && $line == "$1"* ]] && COMPREPLY+=("$line=")
    done < <(_jscan_ask -N)
    # In the name of a file bash would quote the = and then not complete what is behind it.
    ((${#COMPREPLY[@]} > files)) && compopt +o filenames 2>/dev/null
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
}

# True for a word that is nothing but characters at which bash breaks words.
_jscan_breaks() {
    [[ $1 && ! ${1//[=:]/} ]]
}

# Completes the word $2 behind the word $1.
_jscan_word() {
    local previous=$1 current=$2
    if [[ $current == --*=* ]]; then
        _jscan_values "${current%%=*}" "${current#*=}"
        return
    fi
    # Of letters that stand together the last may take a value.
    [[ $previous =~ ^-[aefhklmNqrx]+([a-zA-Z])$ ]] && previous=-${BASH_REMATCH[1]}
    case $previous in
    --case-sensitive | --gaps | --stats) ;; # a value has to be attached
    -*) _jscan_values "$previous" "$current" && [[ ! $current || ${COMPREPLY[*]} ||
        $previous != -[bn] ]] && return ;;
    esac
    if [[ $current == -* ]]; then
        _jscan_offer "$(_jscan_options)" "$current"
        [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    elif [[ $current =~ ^[A-Z0-9_]+= ]]; then
        _jscan_offer "$(_jscan_ask -F "${current%%=*}")" "${current#*=}"
    else
        _jscan_argument "$current"
    fi
}

_jscan() {
    local current=${COMP_WORDS[COMP_CWORD]} i=$COMP_CWORD before
    # By default bash breaks words at = and :, and replaces what is behind the last of these.
    while ((i > 1)) && { _jscan_breaks "${COMP_WORDS[i]}" || _jscan_breaks "${COMP_WORDS[i - 1]}"; }; do
        current=${COMP_WORDS[--i]}$current
    done
    before=${current%"${COMP_WORDS[COMP_CWORD]}"}
    _jscan_breaks "${COMP_WORDS[COMP_CWORD]}" && before=$current
    COMPREPLY=()
    _jscan_word "${COMP_WORDS[i - 1]}" "$current"
    [[ $current == --*=* || $current =~ ^[A-Z0-9_]+= ]] && before=${before#*=}
    [[ $before ]] || return 0
    before=$(printf %q "$before")
    for i in "${!COMPREPLY[@]}"; do COMPREPLY[i]=${COMPREPLY[i]#"$before"}; done
}

complete -F _jscan jscan
