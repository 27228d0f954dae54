#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the sources for what compilers do not.

  tidy.py ROOT

  includes   formats/ and uring/ include libc and themselves; liburing.h stands in one file; cli/
             sees jscan.h and itself; engine/ sees all but cli/
  lines      at most 100 columns, tabs to 8; no white space at the end
  calls      no call that is unsafe or does not belong in its layer
  sizes      files of at most 600 lines (tests/: 1000), functions of at most 70
  licence    an SPDX line on top
  words      no paths of one machine, no notes left behind

A file that has to break a rule says so in its first 40 lines, with the reason:
"tidy: allow RULE: REASON", RULE being one of the words above. Prints a line for each finding;
exit status 1 if there are any.
"""
import os
import re
import sys

COLUMNS_MAX = 100
FILE_LINES_MAX = 600
TEST_LINES_MAX = 1000
FUNCTION_LINES_MAX = 70
HEAD_LINES = 40
WHOLE_INTERFACE = 'engine/include/jscan.h' # one file by design, as long as it has to be

SOURCE = ('.c', '.h')
SCRIPT = ('.py', '.sh')
SCRIPTS = ('quickstart', '.ci/run')

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
ALLOW = re.compile(r'tidy: allow (\w+): (\S.*)')
CALL = re.compile(r'\b(strcpy|strcat|sprintf|vsprintf|strtok|gets|alloca|system|popen|atoi|atol|'
                  r'mmap|mremap|madvise|fork|exit|abort)\s*\(')
# Calls that are refused only outside of some folders.
CALL_HOMES = {
    'strcpy': ('tests/',), # small buffers of their own, and ASan watches
    'strcat': ('tests/',),
    'sprintf': ('tests/',),
    'mmap': ('uring/', 'tests/', 'bench/'),
    'mremap': ('uring/', 'tests/', 'bench/'),
    'madvise': ('uring/', 'tests/', 'bench/'),
    'fork': ('tests/', 'bench/'),
    'exit': ('tests/', 'bench/'),
    'abort': ('tests/', 'bench/'),
    'system': ('tests/',),
    'popen': ('tests/', 'bench/'),
    'atoi': ('tests/', 'bench/'),
    'atol': ('tests/', 'bench/'),
}
# Written so that they do not match themselves.
WORDS = re.compile(r'/w[o]rk/|/tmp/w[/]|\bTO[D]O\b|\bFIX[M]E\b|\bXX[X]\b|\bHA[C]K\b')


def layer_includes(path, form, target):
    """What is wrong with an include of TARGET in PATH, or None."""
    top = path.split('/')[0]
    if target == 'liburing.h' and path != 'uring/io-uring.c' and top not in ('bench', 'tests'):
        return 'only uring/io-uring.c may include liburing.h'
    if top in ('formats', 'uring'):
        if target.startswith(('engine/', 'cli/', 'jscan')):
            return '%s/ must not include %s' % (top, target)
        other = 'uring/' if top == 'formats' else 'formats/'
        if target.startswith(other):
            return '%s/ must not include %s' % (top, target)
    if top == 'cli' and (target.startswith(('engine/', 'formats/', 'uring/')) or
                         (form == '"' and '/' in target)):
        return 'cli/ sees jscan.h only, not %s' % target
    if top == 'engine' and target.startswith('cli/'):
        return 'engine/ must not include %s' % target
    if path == 'engine/include/jscan.h' and form == '"':
        return 'the public header includes libc only'
    return None


def strip_code(text):
    """The text of a C file without comments and the insides of literals, line for line."""
    def blank(m):
        s = m.group(0)
        if s.startswith('/'):
            return re.sub(r'[^\n]', ' ', s)
        return s[0] + s[0]
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text,
                  flags=re.DOTALL)


def functions(lines):
    """The functions of a C file in the house's style: (name, first line, number of lines)."""
    start = name = None
    for number, line in enumerate(lines):
        if line == '{' and number > 0:
            start = number
            name = '?'
            for back in range(number - 1, max(number - 8, -1), -1):
                m = re.match(r'^(?:[\w*].*?)?\b(\w+)\(', lines[back])
                if m and not lines[back].startswith(('\t', ' ')):
                    name = m.group(1)
                    break
        elif line.startswith('}') and start is not None:
            yield name, start, number - start + 1
            start = None


class Tidy:
    """Collects findings."""

    def __init__(self, root):
        self.root = root
        self.findings = []
        self.files = 0

    def add(self, path, line, text):
        self.findings.append('%s:%d: %s' % (path, line + 1, text))

    def check_text(self, path, lines, allowed):
        """Rules for every kind of file."""
        for number, line in enumerate(lines):
            if 'lines' not in allowed:
                if len(line.expandtabs(8)) > COLUMNS_MAX:
                    self.add(path, number, 'longer than %d columns' % COLUMNS_MAX)
                if line != line.rstrip():
                    self.add(path, number, 'white space at the end')
            if 'words' not in allowed and WORDS.search(line):
                self.add(path, number, 'a word that has to go: %s' % WORDS.search(line).group(0))
        if 'licence' not in allowed and 'SPDX-License-Identifier: MIT' not in '\n'.join(lines[:2]):
            self.add(path, 0, 'no SPDX line')

    def check_source(self, path, text, lines, allowed):
        """Rules for C."""
        code = strip_code(text).split('\n')
        for number, line in enumerate(lines):
            m = INCLUDE.match(line)
            wrong = m and layer_includes(path, m.group(1), m.group(2))
            if wrong and 'includes' not in allowed:
                self.add(path, number, wrong)
            for call in CALL.findall(code[number]):
                homes = CALL_HOMES.get(call, ())
                if 'calls' not in allowed and not path.startswith(homes or ('/',)):
                    self.add(path, number, 'call of %s()' % call)
        if 'sizes' in allowed or path == WHOLE_INTERFACE:
            return
        lines_max = TEST_LINES_MAX if path.startswith('tests/') else FILE_LINES_MAX
        if len(lines) - 1 > lines_max:
            self.add(path, 0, '%d lines, more than %d' % (len(lines) - 1, lines_max))
        for name, start, count in functions(code):
            if count > FUNCTION_LINES_MAX:
                self.add(path, start, '%s() has %d lines, more than %d' %
                         (name, count, FUNCTION_LINES_MAX))

    def check(self, path):
        """Checks one file."""
        with open(os.path.join(self.root, path), encoding='utf-8') as f:
            text = f.read()
        lines = text.split('\n')
        head = '\n'.join(lines[:HEAD_LINES])
        allowed = {m.group(1) for m in ALLOW.finditer(head)}
        self.files += 1
        self.check_text(path, lines, allowed)
        if path.endswith(SOURCE):
            self.check_source(path, text, lines, allowed)

    def run(self):
        """Checks the whole tree."""
        for directory, names, files in os.walk(self.root):
            names[:] = sorted(n for n in names
                              if n != '.git' and not n.startswith('build') and n != '__pycache__')
            for name in sorted(files):
                path = os.path.relpath(os.path.join(directory, name), self.root)
                if path.endswith(SOURCE + SCRIPT) or name == 'meson.build' or path in SCRIPTS:
                    self.check(path)


def main():
    tidy = Tidy(sys.argv[1] if len(sys.argv) > 1 else '.')
    tidy.run()
    for finding in tidy.findings:
        print(finding)
    print('%d files, %d findings' % (tidy.files, len(tidy.findings)))
    return 1 if tidy.findings or not tidy.files else 0


if __name__ == '__main__':
    sys.exit(main())
