#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden tests of the command on the sample archive.

  golden.py check JSCAN SAMPLE GOLDEN
  golden.py record JOURNALCTL SAMPLE GOLDEN     makes the expectations anew

GOLDEN/cases.txt has a line for each case: its name, a colon, the arguments in the shell's quoting.
@SAMPLE@ stands for the sample archive, @BAD@ for a folder of files that cannot be opened, @WORK@
for an empty one. GOLDEN/NAME.out and NAME.err hold what journalctl 262 printed, NAME.rc its exit
status if that is not 0. In standard error lines are in any order, as the reference's are.
"""
import os
import shlex
import shutil
import sys
import tempfile

import harness

# Cases that look a device up.
NEEDS_SYSFS = ('path-device',)


def make_bad(folder, sample):
    """A folder with one file of each kind that is left out, and a good one."""
    os.mkdir(folder)
    with open(os.path.join(sample, 'system.journal'), 'rb') as f:
        good = f.read()

    def write(name, data):
        with open(os.path.join(folder, name), 'wb') as f:
            f.write(data)

    write('good.journal', good)
    write('corrupted.journal', b'x' * 4096)
    write('truncated.journal', good[:100])
    write('feature.journal', good[:12] + b'\xff' + good[13:])
    os.symlink('nowhere', os.path.join(folder, 'missing.journal'))
    os.mkdir(os.path.join(folder, 'folder.journal'))
    os.mkfifo(os.path.join(folder, 'fifo.journal'))
    write('other-name.txt', good)


def read_cases(golden):
    """The cases: name to arguments."""
    cases = {}
    with open(os.path.join(golden, 'cases.txt'), encoding='utf-8') as f:
        for line in f:
            if line.strip() and not line.startswith('#'):
                name, arguments = line.split(':', 1)
                cases[name.strip()] = arguments.strip()
    return cases


class Places:
    """The folders that arguments name, and the way back from their paths."""

    def __init__(self, scratch, sample):
        self.paths = {
            '@SAMPLE@': os.path.realpath(sample),
            '@BAD@': os.path.join(os.path.realpath(scratch), 'bad'),
            '@WORK@': os.path.join(os.path.realpath(scratch), 'work'),
        }
        make_bad(self.paths['@BAD@'], sample)
        os.mkdir(self.paths['@WORK@'])

    def arguments(self, text):
        words = shlex.split(text)
        for name, path in self.paths.items():
            words = [w.replace(name, path) for w in words]
        return words

    def neutral(self, data):
        for name, path in self.paths.items():
            data = data.replace(path.encode(), name.encode())
        return data


def run_case(program, places, arguments):
    """Runs one case: status, standard output, standard error with its lines in order."""
    words = places.arguments(arguments)
    stdin = None
    if words and words[0].startswith('<'):
        stdin = open(words.pop(0)[1:], 'rb')
    try:
        r = harness.run([program] + words, **({'stdin': stdin} if stdin else {}))
    finally:
        if stdin:
            stdin.close()
    out = harness.json_sorted(r.out) if b'{"' in r.out else r.out
    err = b''.join(sorted(places.neutral(r.err).splitlines(keepends=True)))
    return r.status, places.neutral(out), err


def read_file(golden, name):
    path = os.path.join(golden, name)
    if not os.path.exists(path):
        return b''
    with open(path, 'rb') as f:
        return f.read()


def record(program, places, golden):
    """Writes the expectations, and removes those of cases that are gone."""
    for name in os.listdir(golden):
        if name.endswith(('.out', '.err', '.rc')):
            os.unlink(os.path.join(golden, name))
    for name, arguments in read_cases(golden).items():
        status, out, err = run_case(program, places, arguments)
        for suffix, data in (('.out', out), ('.err', err),
                             ('.rc', b'%d\n' % status if status else b'')):
            if data:
                with open(os.path.join(golden, name + suffix), 'wb') as f:
                    f.write(data)


def check(program, places, golden):
    """Compares with the expectations."""
    tap = harness.Tap()
    for name, arguments in read_cases(golden).items():
        if name in NEEDS_SYSFS and not os.path.isdir('/sys/dev'):
            continue  # as in a bare chroot
        status, out, err = run_case(program, places, arguments)
        wrong = []
        for what, got, suffix in (('output', out, '.out'), ('messages', err, '.err')):
            want = read_file(golden, name + suffix)
            if want != got:
                wrong.append('%s: %s' % (what, harness.difference(want, got)))
        want_status = int(read_file(golden, name + '.rc') or b'0')
        if status != want_status:
            wrong.append('exit status %s, not %d' % (status, want_status))
        tap.point(not wrong, '%s: %s' % (name, arguments), '\n'.join(wrong))
    return tap.end()


def main():
    action, program, sample, golden = sys.argv[1:5]
    program = os.path.abspath(shutil.which(program) or program)
    with tempfile.TemporaryDirectory() as scratch:
        places = Places(scratch, sample)
        if action == 'record':
            record(program, places, golden)
            return 0
        link = os.path.join(scratch, 'journalctl')
        os.symlink(program, link)
        return check(link, places, golden)


if __name__ == '__main__':
    sys.exit(main())
