#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of what a person at a terminal sees: terminal.py JSCAN SAMPLE"""
import os
import pty
import select
import sys
import time

import harness

PAGER = """#!/bin/sh
{ echo "end=$LESS secure=$LESSSECURE set=$LESSCHARSET"; cat; } >"$0.out"
echo paged "$@"
exit 5
"""
SECONDS_MAX = 60


class Terminal(harness.Suite):
    """The command, the sample and a scratch folder with a pager that writes down what it gets."""

    def __init__(self, jscan, sample, scratch):
        super().__init__(jscan, sample, scratch)
        self.pager = os.path.join(scratch, 'pager')
        with open(self.pager, 'w', encoding='utf-8') as f:
            f.write(PAGER)
        os.chmod(self.pager, 0o755)

    def run(self, *arguments, **environment):
        """Runs the command on a terminal of its own; standard output is what that showed."""
        env = {**harness.ENVIRONMENT, 'TERM': 'xterm', **environment}
        for name in harness.PASSED_ON:
            env[name] = os.environ.get(name, '')
        try:
            os.unlink(self.pager + '.out')
        except FileNotFoundError:
            pass
        pid, master = pty.fork()
        if pid == 0:
            os.execvpe(self.jscan, [self.jscan] + list(arguments), env)
        shown, end = b'', time.monotonic() + SECONDS_MAX
        while time.monotonic() < end and select.select([master], [], [], SECONDS_MAX)[0]:
            try:
                shown += os.read(master, 65536)
            except OSError:
                break
        os.close(master)
        return harness.Result(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown, b'')

    def page(self, *arguments, **environment):
        """The same with the pager that writes down; also what it got, or None."""
        env = {'SYSTEMD_PAGER': self.pager, 'SYSTEMD_PAGERSECURE': '0'}
        env.update(environment)
        r = self.run(*arguments, **env)
        try:
            with open(self.pager + '.out', 'rb') as f:
                return r, f.read()
        except FileNotFoundError:
            return r, None

    def point(self, name, good, r, got=None):
        self.tap.point(good, name, 'status %s\n%r\n%r' % (r.status, r.out[-800:], got))

    def test_pager(self):
        """What goes to the pager, and what it is told."""
        plain = self.run('-D', self.sample, '--no-pager', '-n', '3')
        r, got = self.page('-D', self.sample, '-n', '3')
        self.point('entries go to the pager, and its status does not count', r.status == 0 and
                   r.out == b'paged\r\n' and got is not None and got.startswith(
                       b'end=FRSXMK secure= set=utf-8\n') and
                   got.split(b'\n', 1)[1].replace(b'\n', b'\r\n') == plain.out, r, got)
        r, got = self.page('-D', self.sample, '-e', SYSTEMD_LESS='FRX', SYSTEMD_PAGERSECURE='1',
                           SYSTEMD_LESSCHARSET='latin1')
        self.point('-e begins at the end; variables say how', got is not None and
                   got.startswith(b'end=FRX +G secure=1 set=latin1\n'), r, got)
        r, got = self.page('-D', self.sample, SYSTEMD_PAGER=self.pager + ' a  b')
        self.point('a pager gets its arguments', r.out == b'paged a b\r\n', r, got)
        r, got = self.page('-D', self.sample, 'x')
        self.point('a wrong command line starts none', got is None and r.status == 1 and r.out ==
                   b"\033[0;1;31mFailed to add match 'x': Invalid argument\033[0m\r\r\n", r, got)
        for arguments in (['--list-boots'], ['--help'], ['--list-catalog']):
            r, got = self.page('-D', self.sample, *arguments)
            self.point('%s pages' % arguments[0], got is not None, r, got)
        for arguments in (['-F', '_UID'], ['-N'], ['--header'], ['--disk-usage'], ['--verify'],
                          ['-o', 'help'], ['--version'], ['--no-pager', '-n', '1'],
                          ['--no-pager', '--help']):
            r, got = self.page('-D', self.sample, *arguments)
            self.point('%s does not page' % ' '.join(arguments), got is None and r.out, r, got)

    def test_none(self):
        """When there is no pager."""
        plain = self.run('-D', self.sample, '--no-pager')
        for environment in ({'SYSTEMD_PAGER': ''}, {'SYSTEMD_PAGER': 'cat'}, {'PAGER': 'cat'},
                            {'SYSTEMD_PAGER': ' cat '}, {'PAGER': ' \t'},
                            {'SYSTEMD_PAGER': '', 'PAGER': self.pager}):
            r = self.run('-D', self.sample, **environment)
            self.point('%s means none' % environment, r.out == plain.out, r)
        r, got = self.page('-D', self.sample, TERM='dumb')
        self.point('a dumb terminal has none', got is None and b'\033' not in r.out, r, got)
        r, got = self.page('-D', self.sample, '-n1', SYSTEMD_PAGERSECURE='junk', PATH='/nowhere')
        self.point('one that is not known to be safe is not started', got is None and r.out, r, got)
        self.point('what says nothing of that is named', b'Unable to parse $SYSTEMD_PAGERSECURE, '
                   b'assuming true: Invalid argument' in r.out, r, got)

    def test_quit(self):
        """Quitting early is no error."""
        r = self.run('-D', self.sample, '-o', 'verbose', SYSTEMD_PAGER='true',
                     SYSTEMD_PAGERSECURE='0')
        self.point('quitting the pager ends it well', r.status == 0 and r.out == b'', r)
        r = self.run('-D', self.sample, '--list-boots', SYSTEMD_PAGER='true',
                     SYSTEMD_PAGERSECURE='0')
        self.point('also for a table', r.status == 0 and r.out == b'', r)

    def test_status(self):
        """--status shortens lines where no pager can scroll."""
        full = self.run('-D', self.sample, '--no-pager', '--status=ssh', '-l', COLUMNS='60')
        r = self.run('-D', self.sample, '--no-pager', '--status=ssh', COLUMNS='60')
        want = self.run('-D', self.sample, '--no-pager', '-u', 'ssh', '-b', '-n10', '-q',
                        '--no-full', COLUMNS='60')
        self.point('--status shortens on a terminal, not with -l',
                   r.out == want.out and len(r.out) < len(full.out), r)
        r, got = self.page('-D', self.sample, '--status=ssh', COLUMNS='60')
        self.point('nor for a pager', got is not None and got.split(b'\n', 1)[1].replace(
            b'\n', b'\r\n') == full.out, r, got)

    def test_messages(self):
        """Colours of messages."""
        r = self.run('--bogus')
        self.point('an error is red', r.status == 1 and r.out ==
                   b"\033[0;1;31mjscan: unrecognized option '--bogus'\033[0m\r\r\n", r)
        r = self.run('--bogus', NO_COLOR='1')
        self.point('without colours a line still ends for raw terminals',
                   r.out == b"jscan: unrecognized option '--bogus'\r\r\n", r)
        r = self.run('-D', self.sample, '--no-pager', '-u', 'a b')
        self.point('a notice is bright', r.out.startswith(
            b'\033[0;1;39mInvalid unit name "a b" escaped as '), r)
        r = self.run('-D', self.sample, '--verify', '-q')
        self.point('--verify -q of good files shows nothing', r.status == 0 and r.out == b'', r)


def main():
    try:
        os.close(pty.openpty()[0])
    except OSError:
        harness.skip_all('there are no terminals')
    return Terminal.main()


if __name__ == '__main__':
    sys.exit(main())
