#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Shows how the cost of index queries grows with the number of files.

  files.py [--sizes N,N...] [--rounds N] [--queries LIST] GEN JSCAN

For each layout of many small files, one machine's (many) and many machines' (many-ids), it makes
archives of the sizes given, and runs the queries of query.py on each, all sizes in turns, from the
page cache. A table shows the CPU time (user and system) per file at each size, the least of all
rounds, less what the program takes for no file. A query grows faster than the files if a file of
the largest archive costs more than --most times what one of the smallest did; those are marked.

Each query is run once more on the largest archive with a limit of 64 descriptors (--descriptors),
and has to give the same.

Exit status 1 if a query grows faster, or gives something else.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile

import query

LAYOUTS = ('many', 'many-ids')
UNIT = 'nginx.service'


def cpu_seconds(command):
    """User and system time of a command with output to /dev/null."""
    with open(os.devnull, 'r+b') as null:
        child = subprocess.Popen(command, stdin=null, stdout=null, stderr=null,
                                 env=query.ENVIRONMENT)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def make(gen, layout, size, folder):
    """An archive of so many files; its path and how many they are."""
    path = os.path.join(folder, '%s-%d' % (layout, size))
    subprocess.run([gen, '--files=%d' % size, layout, path], check=True,
                   stdout=subprocess.DEVNULL)
    files = [os.path.join(path, name) for name in os.listdir(path)]
    assert all(os.path.getsize(name) <= 65536 for name in files)
    return path, len(files)


class Growth:
    """One layout in all sizes."""

    def __init__(self, options, layout, folder):
        self.options, self.layout = options, layout
        self.archives = [make(options.gen, layout, size, folder) for size in options.sizes]
        self.queries = []
        for path, _ in self.archives:
            source = ['-D', path, '-q', '--no-pager']
            made = query.make_queries(options.jscan, source, UNIT)
            self.queries.append({name: [options.jscan] + source + words
                                 for name, words in made.items()})
        self.names = options.queries.split(',') if options.queries else list(self.queries[0])

    def floor(self):
        """What the program takes for an empty folder."""
        with tempfile.TemporaryDirectory() as empty:
            command = [self.options.jscan, '-D', empty, '-q', '--no-pager']
            return min(cpu_seconds(command) for _ in range(max(5, self.options.rounds)))

    def costs(self, name):
        """Microseconds per file at each size."""
        floor, least = self.floor(), [float('inf')] * len(self.archives)
        for _ in range(self.options.rounds):
            for i, queries in enumerate(self.queries):
                least[i] = min(least[i], cpu_seconds(queries[name]))
        return [max(0.0, seconds - floor) * 1e6 / files
                for seconds, (_, files) in zip(least, self.archives)]

    def is_equal(self, name):
        """Whether few descriptors change anything."""
        def limit():
            most = self.options.descriptors
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
        command = self.queries[-1][name]
        free, tied = (subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, env=query.ENVIRONMENT, check=False,
                                     preexec_fn=before) for before in (None, limit))
        return (free.returncode, free.stdout, free.stderr) == \
            (tied.returncode, tied.stdout, tied.stderr) and free.returncode == 0

    def show(self):
        """The table. False if something is not as it should be."""
        good = True
        files = [str(count) for _, count in self.archives]
        print('| %s | %s | growth | %d descriptors |' % (
            self.layout, ' | '.join(n + ' files' for n in files), self.options.descriptors))
        print('|---|%s---|---|' % ('---|' * len(files)))
        for name in self.names:
            costs, equal = self.costs(name), self.is_equal(name)
            growth = costs[-1] / max(costs[0], 0.1)
            # Below some microseconds a file is as good as free, and noise.
            faster = growth > self.options.most and costs[-1] > 2
            good = good and equal and not faster
            print('| %s | %s | %.2f%s | %s |' % (
                name, ' | '.join('%.1f' % c for c in costs), growth,
                ' **faster**' if faster else '', 'equal' if equal else '**different**'),
                flush=True)
        print()
        return good


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--sizes', default='625,1250,2500,5000',
                   type=lambda text: sorted(int(n) for n in text.split(',')))
    p.add_argument('--rounds', type=int, default=3)
    p.add_argument('--queries', help='names, separated by commas')
    p.add_argument('--most', type=float, default=1.5, metavar='RATIO')
    p.add_argument('--descriptors', type=int, default=64)
    p.add_argument('gen')
    p.add_argument('jscan')
    options = p.parse_args()
    good = True
    print('CPU microseconds per file\n')
    for layout in LAYOUTS:
        with tempfile.TemporaryDirectory() as folder:
            good = Growth(options, layout, folder).show() and good
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
