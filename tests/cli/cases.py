#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the recorded cases of journalctl's behaviour.

  cases.py JSCAN SHARED EXPECTED

SHARED/spec/cases holds the cases and build.py, which makes their journals with
systemd-journal-remote, runs a program and compares. The program is reached through a link named
journalctl, since some messages begin with the program's name. EXPECTED lists the cases that cannot
pass yet, one a line, each with what will bring it; a case that passes although it is listed there
is a failure too, so that the list stays true.
"""
import os
import re
import subprocess
import sys
import tempfile

import harness

REMOTE = '/lib/systemd/systemd-journal-remote'


def read_expected(path):
    """The cases that cannot pass yet: name to reason."""
    expected = {}
    with open(path, encoding='utf-8') as f:
        for line in f:
            line = line.split('#')[0].strip()
            if line:
                name, reason = line.split(None, 1)
                expected[name] = reason
    return expected


def main():
    jscan, shared, expected_path = sys.argv[1:4]
    cases = os.path.join(shared, 'spec', 'cases')
    build = os.path.join(cases, 'build.py')
    if not os.path.exists(build):
        harness.skip_all('there is no %s' % cases)
    if not os.path.exists(REMOTE):
        harness.skip_all('systemd-journal-remote is not installed')
    expected = read_expected(expected_path)
    names = sorted(n[:-5] for n in os.listdir(cases) if n.endswith('.args'))
    with tempfile.TemporaryDirectory() as scratch:
        link = os.path.join(scratch, 'journalctl')
        os.symlink(os.path.abspath(jscan), link)
        r = subprocess.run([sys.executable, '-B', build, '--journalctl', link, '--remote', REMOTE,
                            '--work', os.path.join(scratch, 'work')],
                           stdin=subprocess.DEVNULL, capture_output=True, check=False)
    report = r.stdout.decode(errors='replace')
    failed = set(re.findall(r'^FAIL (\S+) \(', report, re.MULTILINE))
    m = re.search(r'^(\d+) passed, (\d+) failed$', report, re.MULTILINE)
    tap = harness.Tap()
    if not m or int(m.group(1)) + int(m.group(2)) != len(names):
        tap.note(report[-2000:] + r.stderr.decode(errors='replace')[-2000:])
        tap.point(False, 'all cases ran')
        return tap.end()
    for name in names:
        later = expected.pop(name, None)
        detail = ''
        if name in failed:
            at = report.index('FAIL %s (' % name)
            start = max(report.rfind('\nFAIL ', 0, at), 0)
            detail = report[start:at][-3000:]
        tap.point(name not in failed, name, detail, later)
    for name in expected:
        tap.point(False, 'listed case %s exists' % name)
    tap.note('%s; %d listed as coming later' % (m.group(0), len(read_expected(expected_path))))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
