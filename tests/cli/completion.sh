#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Completes words as a shell does: completion.sh JSCAN SAMPLE FOLDER-OF-SCRIPTS.
jscan=$1 sample=$2 folder=$3
count=0 failed=0
export TZ=UTC LC_ALL=C.UTF-8

# A test point: name, then what was wanted and what there is.
point() {
    count=$((count + 1))
    if [[ $2 == "$3" ]]; then
        echo "ok $count - $1"
    else
        failed=1
        printf 'not ok %d - %s\n# wanted: %q\n# got:    %q\n' "$count" "$1" "$2" "$3"
    fi
}

# Completes the last of the words as bash does, and prints what it offers in a line.
offers() {
    COMP_WORDS=("$jscan" "$@") COMP_CWORD=$# COMPREPLY=()
    _jscan "$jscan" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[*]}"
}

bash -n "$folder/jscan.bash"
point 'the script for bash is one' 0 $?
source "$folder/jscan.bash"

point 'an option' '--output-fields=' "$(offers --output-)"
point 'several options' '--unit= --until= --user --user-unit= --utc' \
    "$(offers --u | tr ' ' '\n' | grep -v unpack | sort | tr '\n' ' ' | sed 's/ $//')"
json='json json-pretty json-sse json-seq json-stable'
point 'a mode, in a word of its own' "$json" "$(offers -o js)"
point 'a mode behind =, which breaks words' "$json" "$(offers --output = js)"
point 'a mode behind = in one word' 'export' "$(offers --output=ex)"
point 'all modes' "$("$jscan" -o help | tr '\n' ' ')json-stable" "$(offers -o '')"
point 'a level' 'err' "$(offers -p er)"
point 'facilities' 'kern,daemon' "$(offers --facility kern,da)"
point 'a unit of the files that are named' 'ssh.service' "$(offers -D "$sample" -u ssh)"
point 'the same behind --directory=' 'ssh.service' "$(offers --directory = "$sample" -u ssh)"
point 'an identifier' 'sshd' "$(offers -i "$sample/system.journal" -t ssh)"
point 'a field' '_SYSTEMD_UNIT' "$(offers -D "$sample" -F _SYSTEMD_UN)"
point 'a match' '_SYSTEMD_UNIT=' "$(offers -D "$sample" _SYSTEMD_UN)"
point 'the value of a match' 'ssh.service' "$(offers -D "$sample" _SYSTEMD_UNIT = ssh)"
point 'the last of letters that stand together' 'ssh.service' "$(offers -D "$sample" -fu ssh)"
# A jscan that knows of odd names: what is completed is only what is behind the last : or =.
jscan_of_the_files=$jscan
odd() { echo 'a:b=c d@e.service'; }
jscan=odd
point 'a unit with what breaks words' 'a:b=c\ d@e.service' "$(offers -u '')"
point 'behind the colon' 'b=c\ d@e.service' "$(offers -u a :)"
point 'behind more of it' 'c\ d@e.service' "$(offers --unit = a : b =)"
point 'in the value of a match' 'b=c\ d@e.service' "$(offers FIELD = a : b)"
jscan=$jscan_of_the_files
point 'the file of a sink' "$sample/system.journal" "$(offers --sink = json : "$sample/system.j")"
boots=$("$jscan" -D "$sample" --list-boots -q -o json | grep -o '"boot_id"' | wc -l)
point 'boots by number and ID, and all' $((boots * 2 + 1)) "$(offers -D "$sample" -b '' | wc -w)"
point 'a word behind -b that is no boot' '_SYSTEMD_UNIT=' "$(offers -D "$sample" -b _SYSTEMD_UN)"
point 'nothing for a time that is being typed' '' "$(offers -S 20)"
point 'files' "$sample/system.journal" "$(offers -i "$sample/system.j")"

# Every option that --help lists, by its short and long name, has a line in the script for zsh.
listed() { "$jscan" --help | grep -oE '^ +(-[A-Za-z]|--[a-z0-9-]+)( --[a-z0-9-]+)?' |
    grep -oE -- '-{1,2}[A-Za-z0-9-]+' | sort; }
known() { sed -nE "s/^    '(\([^)]*\))?\*?(-{1,2}[A-Za-z0-9-]+).*/\2/p" "$folder/_jscan" |
    sed -E 's/(.)[-]$/\1/' | sort; }
point 'the script for zsh has the options of --help' "$(listed)" "$(known)"
if command -v zsh >/dev/null; then
    zsh -n "$folder/_jscan"
    point 'the script for zsh is one' 0 $?
fi
echo "1..$count"
exit $failed
