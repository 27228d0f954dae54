#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares jscan with a journalctl on one archive.

  ratios.py [--pairs N] [--modes LIST] [--option OPTION]... JSCAN JOURNALCTL ARCHIVE

First the outputs are compared, all bytes (JSON after putting each entry's members in order). Then
both programs run in turns with output to /dev/null, N times each, and the table shows the median
seconds of each, the median of the ratios of the pairs with the smallest and largest, and the peak
memory. Last, where strace is installed, come the system calls of jscan per entry. The files are in
the page cache as far as memory allows, since comparing has read them. Exit status 1 if an output
differs.
"""
import argparse
import hashlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

MODES = {
    'cat': ['-o', 'cat'],
    'export': ['-o', 'export'],
    'short': ['-o', 'short'],
    'verbose': ['-o', 'verbose'],
    'json': ['-o', 'json', '-n', '200000'],
}
ENVIRONMENT = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'TZ': 'UTC',
               'LC_ALL': 'C.UTF-8', 'TERM': 'dumb'}

STRING = rb'"(?:[^"\\]|\\.)*"'
VALUE = rb'(?:' + STRING + rb'|null|\[[0-9,]*\])'
MEMBER = re.compile(STRING + rb':(?:' + VALUE + rb'|\[(?:' + VALUE + rb',?)*\])')


def sorted_line(line):
    """A line of JSON with its members in byte order, if that is what it is."""
    members = MEMBER.findall(line[1:-2])
    if b'{' + b','.join(members) + b'}\n' == line:
        return b'{' + b','.join(sorted(members)) + b'}\n'
    return line


def output_hash(command, is_json):
    """SHA-256 of what a command prints, and how much that is."""
    digest, size = hashlib.sha256(), 0
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          env=ENVIRONMENT) as p:
        for piece in p.stdout if is_json else iter(lambda: p.stdout.read(1 << 20), b''):
            digest.update(sorted_line(piece) if is_json else piece)
            size += len(piece)
    return digest.hexdigest(), size, p.returncode


def timed(command):
    """Runs a command with output to /dev/null: seconds and peak memory in bytes."""
    with open(os.devnull, 'r+b') as null:
        begin = time.perf_counter()
        p = subprocess.Popen(command, stdin=null, stdout=null, env=ENVIRONMENT)
        _, status, usage = os.wait4(p.pid, 0)
        seconds = time.perf_counter() - begin
        p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode != 0:
        sys.exit('ratios: %s ended with %d' % (' '.join(command), p.returncode))
    return seconds, usage.ru_maxrss * 1024


def compare(jscan, journalctl, mode, pairs):
    """Runs both in turns; a row of the table."""
    ours, theirs, ratios, peak = [], [], [], [0, 0]
    for _ in range(pairs):
        seconds, memory = timed(jscan)
        ours.append(seconds)
        peak[0] = max(peak[0], memory)
        seconds, memory = timed(journalctl)
        theirs.append(seconds)
        peak[1] = max(peak[1], memory)
        ratios.append(theirs[-1] / ours[-1])
    return '| %s | %.3f | %.3f | **%.1f** (%.1f–%.1f) | %.0f | %.0f |' % (
        mode, statistics.median(ours), statistics.median(theirs), statistics.median(ratios),
        min(ratios), max(ratios), peak[0] / 1048576, peak[1] / 1048576)


def system_calls(command):
    """The number of system calls that a command makes, in all its threads."""
    with tempfile.NamedTemporaryFile() as report:
        subprocess.run(['strace', '-f', '-c', '-U', 'calls,name', '-o', report.name] + command,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=ENVIRONMENT,
                       check=True)
        lines = report.read().decode().splitlines()
    return sum(int(words[0]) for words in (line.split() for line in lines)
               if len(words) >= 2 and words[0].isdigit() and words[1] != 'total')


def count_entries(command):
    """How many entries a jscan command prints, by its own count."""
    r = subprocess.run(command + ['--stats=json'], stdin=subprocess.DEVNULL, env=ENVIRONMENT,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    return json.loads(r.stderr)['entries']


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--pairs', type=int, default=5)
    p.add_argument('--modes', default=','.join(MODES))
    p.add_argument('--option', action='append', default=[], help='one more option for jscan')
    p.add_argument('jscan')
    p.add_argument('journalctl')
    p.add_argument('archive')
    options = p.parse_args()
    source = ['-D', options.archive, '-q', '--no-pager']
    modes = options.modes.split(',')
    commands = {m: ([options.jscan] + options.option + source + MODES[m],
                    [options.journalctl] + source + MODES[m]) for m in modes}
    differs = False
    for mode in modes:
        ours, theirs = (output_hash(c, mode == 'json') for c in commands[mode])
        differs = differs or ours != theirs
        print('%s: %s, %d bytes, sha256 %s' % (
            mode, 'equal' if ours == theirs else 'DIFFERENT', ours[1], ours[0][:16]), flush=True)
    print('\n| mode | jscan s | journalctl s | ratio | jscan MiB | journalctl MiB |')
    print('|---|---|---|---|---|---|')
    for mode in modes:
        print(compare(*commands[mode], mode, options.pairs), flush=True)
    if shutil.which('strace'):
        command = commands[modes[0]][0]
        calls, entries = system_calls(command), count_entries(command)
        print('\n%s: %d system calls for %d entries, one per %d' % (
            modes[0], calls, entries, entries // max(calls, 1)))
    return 1 if differs else 0


if __name__ == '__main__':
    sys.exit(main())
