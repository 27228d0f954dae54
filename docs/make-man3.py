#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the manual pages of section 3 from the public header, so that there is one text of each.

  make-man3.py HEADER DIRECTORY
  make-man3.py --list HEADER

Each headed part of the header becomes a page, named by the word in PAGES: its structures and
constants as they stand, then its functions with what the comments say. Every function gets a page
of its own name that refers there. --list prints the file names that would be made. A heading
without a page, or a public function that has no comment, is an error.
"""
import datetime
import os
import re
import sys

# Heading of the header: name of the page, and what it is about.
PAGES = {
    'plain types': ('jscan_types', 'identifiers and versions'),
    'options and life': ('jscan_engine', 'make and end a reader of journal files'),
    'which files': ('jscan_files', 'say which journal files are read'),
    'which entries': ('jscan_select', 'say which entries are read, in which direction, from where'),
    'entries and fields': ('jscan_entries', 'look at an entry and its fields'),
    'problems': ('jscan_problems', 'learn what could not be read'),
    'traces': ('jscan_traces', 'record what is read and used of files'),
    'driving': ('jscan_drive', 'run a scan: push, pull, or in an event loop'),
    'sinks': ('jscan_sinks', 'receive entries'),
    'sinks from shared objects': ('jscan_sink_module', 'load sinks that are not part of a program'),
    'the built-in output': ('jscan_output', 'print entries as journalctl does'),
    'the message catalog': ('jscan_catalog', 'texts that explain messages'),
    'statistics': ('jscan_statistics', 'count what a scan does'),
    'questions about the archive': ('jscan_questions', 'boots, fields, files and counts'),
    'gaps': ('jscan_gaps', 'what an archive lacks'),
    'following': ('jscan_follow', 'go on with what comes in'),
    'checkpoints': ('jscan_checkpoint', 'go on where another run has ended'),
    'verification': ('jscan_verification', 'check files for consistency'),
}

MARK = 'JSCAN_API '
HEADING = re.compile(r'^/\* ---- (.+?) -+ \*/$', re.M)
COMMENT = re.compile(r'/\*(.*?)\*/', re.S)
SENTENCE = re.compile(r'(?<=[^.].[.?!])\)? (?=\S)')
FUNCTION = re.compile(r'JSCAN_API\b([^;]*?)\b(jscan_\w+)\(')


def fail(text):
    """Ends with a message."""
    sys.exit(f'make-man3.py: {text}')


def clean(comment):
    """The text of a comment, without stars and indentation."""
    lines = [re.sub(r'^\s*\* ?', '', line) for line in comment.strip('\n').split('\n')]
    return '\n'.join(lines).strip()


def paragraphs(text):
    """A comment's text as mdoc: blank lines part paragraphs, indented ones stand as they are."""
    out = []
    for block in re.split(r'\n\s*\n', text):
        lines = block.strip('\n').split('\n')
        if all(line.startswith('  ') for line in lines):
            out += ['.Bd -literal', *map(escape, lines), '.Ed']
        else:
            sentences = SENTENCE.split(' '.join(line.strip() for line in lines))
            out += ['.Pp', *map(escape, sentences)]
    return out


def escape(line):
    """A line of text that roff takes as it is."""
    line = line.replace('\\', '\\e')
    return '\\&' + line if line[:1] in ".'" else line


def declarations(part):
    """The parts of a section, in order: ('text' | 'code' | 'functions', comment, source, names)."""
    found, position = [], 0
    while True:
        rest = part[position:].lstrip('\n')
        position = len(part) - len(rest)
        if not rest.strip():
            return found
        comment = ''
        match = COMMENT.match(rest)
        if match:
            comment = clean(match.group(1))
            position += match.end()
            if re.match(r'\n[ \t]*(\n|$)', part[position:]) or position >= len(part.rstrip()):
                found.append(('text', comment, '', []))
                continue
            rest = part[position:].lstrip('\n')
            position = len(part) - len(rest)
        # What belongs to the comment ends at a blank line outside of braces, or the next comment.
        end = re.search(r'\n[ \t]*\n|\n(?=/\*)', rest)
        source = rest[:end.start()] if end else rest.rstrip()
        position += len(source)
        names = [name for _, name in FUNCTION.findall(source)]
        found.append(('functions' if names else 'code', comment, source.strip('\n'), names))


def literal(source):
    """Source text as it stands, without what only compilers want."""
    out = ['.Bd -literal']
    for line in source.expandtabs(8).split('\n'):
        if line.startswith(MARK):
            line, indent = line[len(MARK):], len(MARK)
        elif not line.startswith(' '):
            indent = 0
        elif line[:indent].isspace():
            line = line[indent:]
        out.append(escape(line))
        if line.endswith(';'):
            indent = 0
    return [*out, '.Ed']


def page(name, about, parts, date):
    """The text of one page, and the functions it is about."""
    functions = []
    body = []
    for kind, comment, source, names in parts:
        if kind == 'functions' and not comment:
            fail(f'{", ".join(names)}: no comment')
        functions += names
        if source:
            body += literal(source)
        if comment:
            text = paragraphs(comment)
            body += text[1:] if source and text[0] == '.Pp' else text
    head = ['.\\" Made from jscan.h.', f'.Dd {date}', f'.Dt {name.upper()} 3', '.Os', '.Sh NAME']
    named = functions or [name]
    head += [f'.Nm {n} ,' for n in named[:-1]] + [f'.Nm {named[-1]}', f'.Nd {about}',
             '.Sh LIBRARY', 'libjscan (\\-ljscan)', '.Sh SYNOPSIS', '.In jscan.h',
             '.Sh DESCRIPTION']
    body = [line for line, after in zip(body, body[1:] + ['']) if line != '.Pp' or
            not after.startswith('.Bd')]
    if body[0] == '.Pp':
        body.pop(0)
    tail = ['.Sh SEE ALSO', '.Xr jscan 1 ,', '.Xr libjscan 7']
    return '\n'.join(head + body + tail) + '\n', functions


def main():
    """See the top of the file."""
    arguments = sys.argv[1:]
    if len(arguments) != 2:
        sys.exit(__doc__)
    listing = arguments[0] == '--list'
    arguments = arguments[listing:]
    with open(arguments[0], encoding='utf-8') as file:
        header = file.read()
    header = header[:header.index('#ifdef __cplusplus', header.index('/* ---- verification'))]
    pieces = HEADING.split(header)[1:]
    stamp = int(os.environ.get('SOURCE_DATE_EPOCH', os.stat(arguments[0]).st_mtime))
    date = datetime.datetime.fromtimestamp(stamp, datetime.timezone.utc).strftime('%B %-d, %Y')
    for heading, part in zip(pieces[::2], pieces[1::2]):
        if heading not in PAGES:
            fail(f'no page for the heading "{heading}"')
        name, about = PAGES[heading]
        text, functions = page(name, about, declarations(part), date)
        files = {f'{name}.3': text}
        files.update({f'{f}.3': f'.so man3/{name}.3\n' for f in functions if f != name})
        for file_name, content in files.items():
            if listing:
                print(file_name)
                continue
            with open(os.path.join(arguments[1], file_name), 'w', encoding='utf-8') as file:
                file.write(content)


if __name__ == '__main__':
    main()
