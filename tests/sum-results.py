#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the results of meson test runs.

  sum-results.py --append SUM --status N LOG REPORTS
      adds up one run: LOG is its testlog.json, REPORTS a directory in which sanitizers left a file
      for each finding, N the exit status of "meson test". Prints what failed.
  sum-results.py --total SUM
      prints "N passed, N failed, N skipped" over all runs.

A test that speaks TAP counts once for each of its points, any other one once. What is listed as
coming later, and fails, counts as skipped. A program that ends badly counts as a failure even if
none of its points did. Exit status 1 if anything failed.
"""
import argparse
import json
import os
import re
import sys

REPORTS_SHOWN = 4

# What LeakSanitizer notes when a thread ends just as it looks at all of them. It goes on.
ENDING_THREAD = re.compile(r'^==\d+==Unable to get registers from thread \d+\.\n?', re.MULTILINE)
POINT = re.compile(r'^\s*(not )?ok\b([^#]*)(#\s*(skip|todo)?.*)?$', re.IGNORECASE)


def count_points(text):
    """The passed, failed and skipped points of a TAP stream, and the lines of the failed ones."""
    passed = skipped = 0
    failures = []
    for line in text.split('\n'):
        m = POINT.match(line)
        if not m:
            continue
        word = (m.group(4) or '').lower()
        if word == 'skip' or (word and m.group(1)):
            skipped += 1
        elif word:
            failures.append(line.strip() + ' (it was not expected to pass yet)')
        elif m.group(1):
            failures.append(line.strip())
        else:
            passed += 1
    return passed, failures, skipped


def count_test(test):
    """The passed, failed and skipped points of one test program, and the lines of its failures."""
    name, result = test['name'], test['result']
    passed, failures, skipped = count_points(test.get('stdout') or '')
    if not passed and not failures and not skipped:
        if result in ('OK', 'EXPECTEDFAIL'):
            return 1, [], 0
        if result == 'SKIP':
            return 0, [], 1
    failures = ['%s: %s' % (name, line) for line in failures]
    if result not in ('OK', 'SKIP', 'EXPECTEDFAIL') and not failures:
        failures = ['%s: %s' % (name, result)]
    return passed, failures, skipped


def read_log(path):
    """The tests of a testlog.json, one object a line."""
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8', errors='replace') as f:
        return [json.loads(line) for line in f if line.strip()]


def append(options):
    """Adds one run to the sum file; prints its failures."""
    passed = skipped = 0
    failures = []
    tests = read_log(options.log)
    for test in tests:
        p, f, s = count_test(test)
        passed += p
        failures += f
        skipped += s
    for count, name in enumerate(sorted(os.listdir(options.reports))):
        with open(os.path.join(options.reports, name), encoding='utf-8', errors='replace') as f:
            text = ENDING_THREAD.sub('', f.read())
        if not text.strip():
            continue
        failures.append('sanitizer report %s' % name)
        if count < REPORTS_SHOWN:
            print(text[:4000], file=sys.stderr)
    if options.status and not failures:
        failures.append('meson test ended with status %d' % options.status)
    if not tests:
        failures.append('no test ran')
    for failure in failures:
        print('FAILED %s' % failure, file=sys.stderr)
    with open(options.append, 'a', encoding='utf-8') as f:
        f.write('%d %d %d\n' % (passed, len(failures), skipped))
    return 1 if failures else 0


def total(path):
    """Prints the sum over all runs."""
    sums = [0, 0, 0]
    with open(path, encoding='utf-8') as f:
        for line in f:
            sums = [a + int(b) for a, b in zip(sums, line.split())]
    print('%d passed, %d failed, %d skipped' % tuple(sums))
    return 1 if sums[1] or not sums[0] else 0


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--append', metavar='SUM')
    p.add_argument('--status', type=int, default=0)
    p.add_argument('--total', metavar='SUM')
    p.add_argument('log', nargs='?')
    p.add_argument('reports', nargs='?')
    options = p.parse_args()
    return total(options.total) if options.total else append(options)


if __name__ == '__main__':
    sys.exit(main())
