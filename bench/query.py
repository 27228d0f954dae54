#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares index queries of jscan with those of one or more journalctls on one archive.

  query.py [--pairs N] [--queries LIST] [--evict HOW] [--unit UNIT] JSCAN ARCHIVE JOURNALCTL...

For each query the outputs are compared first, all bytes (field names and values as sets, since
journalctl's order of them is that of hash tables). Then jscan and the journalctls run in turns, N
times cold and N times warm, with output to /dev/null. A table shows jscan's median seconds with
their smallest and largest, the same of each journalctl with the median of the pairs' ratios, and
what jscan read: requests, bytes, and these as a share of the archive.

Cold means: before each run the page cache is dropped (as root; else, and with --evict=files, the
pages of the archive's files are evicted one by one), then the program is run once for its version,
so that loading it is not measured. Exit status 1 if an output differs.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ENVIRONMENT = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'TZ': 'UTC',
               'LC_ALL': 'C.UTF-8', 'TERM': 'dumb', 'SYSTEMD_COLORS': '0'}
DROP = '/proc/sys/vm/drop_caches'


def run(command):
    """What a command prints."""
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)


def entries(program, source, options):
    """Entries as objects."""
    r = run([program] + source + ['-o', 'json'] + options)
    return [json.loads(line) for line in r.stdout.splitlines()]


def make_queries(jscan, source, unit):
    """Name -> options. Times and a cursor are taken from the middle of the archive."""
    first = entries(jscan, source, ['-n', '+1'])[0]
    last = entries(jscan, source, ['-n', '1'])[0]
    middle = (int(first['__REALTIME_TIMESTAMP']) + int(last['__REALTIME_TIMESTAMP'])) // 2000000
    # An entry at or before the middle, so that the minute is not an empty one.
    near = entries(jscan, source, ['-n', '1', '-U', '@%d' % middle])[0]
    begin = int(near['__REALTIME_TIMESTAMP']) // 1000000 - 30
    return {
        'unit-boot': ['-u', unit, '-b', '-n', '10'],
        'status': ['--status=' + unit],
        'boot-errors': ['-b', '-1', '-p', 'err'],
        'minute': ['-S', '@%d' % begin, '-U', '@%d' % (begin + 60)],
        'tail': ['-n', '10'],
        'reverse': ['-r', '-n', '1000'],
        'boots': ['--list-boots'],
        'invocations': ['--list-invocations', '-u', 'systemd-logind.service'],
        'values': ['-F', '_SYSTEMD_UNIT'],
        'names': ['-N'],
        'after-cursor': ['--after-cursor', near['__CURSOR'], '-n', '100'],
    }


def theirs_of(name, options, unit):
    """The options for journalctl: it has no --status."""
    return ['-u', unit, '-b', '-n', '10'] if name == 'status' else options


class Eviction:
    """How the archive gets out of memory."""

    def __init__(self, how, archive):
        self.all = how == 'all' or (how == 'auto' and os.access(DROP, os.W_OK))
        self.files = [p for p in pathlib.Path(archive).rglob('*') if p.is_file()]

    def evict(self, program):
        """Evicts everything, or the files; loads the program again."""
        if self.all:
            os.sync()
            with open(DROP, 'w', encoding='ascii') as f:
                f.write('1\n')
        else:
            for path in self.files:
                fd = os.open(path, os.O_RDONLY)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(fd)
        run([program, '--version'])

    def size(self):
        """Bytes of the archive on disk."""
        return sum(p.stat().st_blocks * 512 for p in self.files)


def timed(command):
    """Seconds that a command takes with output to /dev/null."""
    with open(os.devnull, 'r+b') as null:
        begin = time.perf_counter()
        subprocess.run(command, stdin=null, stdout=null, stderr=null, env=ENVIRONMENT,
                       check=False)
        return time.perf_counter() - begin


def equal(name, ours, theirs):
    """Whether two programs said the same."""
    if name in ('values', 'names'):
        return sorted(ours.splitlines()) == sorted(theirs.splitlines())
    return ours == theirs


def span(values):
    """Median, smallest and largest, in milliseconds."""
    return '%.1f (%.1f–%.1f)' % tuple(1000 * v for v in (
        statistics.median(values), min(values), max(values)))


def measure(commands, pairs, eviction):
    """Runs the commands in turns; lists of seconds."""
    seconds = [[] for _ in commands]
    for command in commands if eviction is None else []:
        timed(command)
    for _ in range(pairs):
        for i, command in enumerate(commands):
            if eviction:
                eviction.evict(command[0])
            seconds[i].append(timed(command))
    return seconds


def row(name, kind, seconds, reads):
    """A row of the table."""
    cells = [name, kind, span(seconds[0])]
    for other in seconds[1:]:
        ratios = [b / a for a, b in zip(seconds[0], other)]
        cells.append('%s, **%.1f** (%.1f–%.1f)' % (span(other), statistics.median(ratios),
                                                    min(ratios), max(ratios)))
    return '| ' + ' | '.join(cells + reads) + ' |'


def reads_of(command, eviction):
    """jscan's own count of requests and bytes."""
    r = run(command + ['--stats=json'])
    stats = json.loads(r.stderr.splitlines()[-1])
    return ['%d' % stats['reads'], '%.2f' % (stats['bytes_read'] / 1048576),
            '%.2f' % (100 * stats['bytes_read'] / eviction.size())]


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--pairs', type=int, default=5)
    p.add_argument('--queries', help='names, separated by commas')
    p.add_argument('--evict', choices=['auto', 'all', 'files'], default='auto')
    p.add_argument('--unit', default='dbus.service')
    p.add_argument('--option', action='append', default=[], help='one more option for jscan')
    p.add_argument('jscan')
    p.add_argument('archive')
    p.add_argument('journalctl', nargs='+')
    options = p.parse_args()
    source = ['-D', options.archive, '-q', '--no-pager']
    queries = make_queries(options.jscan, source, options.unit)
    eviction = Eviction(options.evict, options.archive)
    names = options.queries.split(',') if options.queries else list(queries)
    differs = False
    print('| query | | jscan ms | %s | reads | MiB | %% |' % ' | '.join(
        '%s ms, ratio' % program for program in options.journalctl))
    print('|---|---|---|%s---|---|---|' % ('---|' * len(options.journalctl)))
    for name in names:
        ours = [options.jscan] + options.option + source + queries[name]
        commands = [ours] + [[program] + source + theirs_of(name, queries[name], options.unit)
                             for program in options.journalctl]
        answers = [run(command).stdout for command in commands]
        if any(not equal(name, answers[0], answer) for answer in answers[1:]):
            print('%s: DIFFERENT: %s' % (name, ' '.join(ours)))
            differs = True
            continue
        reads = reads_of(ours, eviction)
        for kind in ('cold', 'warm'):
            cold = eviction if kind == 'cold' else None
            print(row(name, kind, measure(commands, options.pairs, cold), reads), flush=True)
    return 1 if differs else 0


if __name__ == '__main__':
    sys.exit(main())
