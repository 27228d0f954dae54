#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the order of jscan with journalctl 262 over random sets of files.

A set is well-defined if journalctl prints the same entries, all of them, whatever the order in
which the files are named: eight random ones are tried, and where jscan differs also the one that
jscan goes by. There jscan has to print the same bytes; -r has to be the mirror and -n the end of
the listing, unless for journalctl they are not; and matches have to agree. Elsewhere jscan's
listing has to be complete (copies of an entry may be left out) and the same for any order of the
files.

usage: order.py JSCAN MAKE_SET [--sets N] [--first SEED] [--jobs N] [--keep FOLDER]
       order.py JSCAN MAKE_SET --files FILE...      one set that is there already

The journalctl to compare with is named by JSCAN_TEST_JOURNALCTL; without it the test is skipped
(77). With --keep, sets that differ are kept in that folder.
"""
import argparse
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

KINDS = ['rotated', 'system-user', 'ranked-boots', 'unranked-boots', 'remote', 'duplicates',
         'adversarial']
ORDERS = 8
SKIPPED = 77


def run(program, files, *args):
    """What a program prints to stdout about these files."""
    command = [program, '-q', '--no-pager', *args, *('--file=' + f for f in files)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                          env={**os.environ, 'TZ': 'UTC', 'LC_ALL': 'C.UTF-8'})
    if done.returncode not in (0, 1):
        raise RuntimeError('%s: status %d, %s' % (' '.join(command), done.returncode,
                                                  done.stderr.decode(errors='replace')))
    return done.stdout


def entries(export):
    """The entries of an export, each as bytes. (No field here holds an empty line.)"""
    return [e for e in export.split(b'\n\n') if e]


def numbers(export):
    """What the entries call themselves."""
    return [int(n) for n in re.findall(rb'^MESSAGE=entry (\d+)$', export, re.M)]


def plain(export):
    """An export less what tells copies of one entry apart: cursors, and the order of fields."""
    export = re.sub(rb'^__(CURSOR|SEQNUM|SEQNUM_ID)=.*\n', b'', export, flags=re.M)
    return [sorted(e.split(b'\n')) for e in entries(export)]


def place_of_file(path):
    """What the order of files goes by: first realtime, file ID, path."""
    with open(path, 'rb') as f:
        header = f.read(208)
    return int.from_bytes(header[184:192], 'little'), header[24:40], path


class Comparison:
    """One set: the files, and what has been found to differ."""

    def __init__(self, options, files, copies, seed):
        self.jscan, self.journalctl = options.jscan, options.journalctl
        self.files, self.copies = files, copies
        self.random = random.Random(seed)
        self.differences = []
        self.notes = []
        self.copies_differ = False
        self.orders = [list(files)]
        for _ in range(ORDERS - 1):
            self.orders.append(self.random.sample(files, len(files)))

    def differ(self, what):
        self.differences.append(what)

    def reference(self, *args):
        """What journalctl exports in all eight orders, or None if that is not one thing. Which of
        an entry's copies it is may depend on the order: then they are compared as if they were one.
        """
        args = ('-o', 'export', *args)
        first = run(self.journalctl, self.orders[0], *args)
        for order in self.orders[1:]:
            other = run(self.journalctl, order, *args)
            if other != first:
                self.copies_differ = True
                if plain(other) != plain(first):
                    return None
        return first

    def same(self, ours, wanted):
        """Whether two exports are the same, as far as that is defined."""
        return plain(ours) == plain(wanted) if self.copies_differ else ours == wanted

    def is_chance(self, ours, wanted, *args):
        """Whether it is chance that journalctl prints one thing in eight orders. The comparison
        goes in circles where copies with numbers of their own share their times with other entries:
        then the order of files decides, also which copies journalctl loses that we show.
        """
        numbered = sorted(self.files, key=place_of_file)
        if plain(run(self.journalctl, numbered, '-o', 'export', *args)) != plain(wanted):
            self.notes.append('well-defined by chance: not if files are named in their order')
        elif len(numbers(ours)) > len(set(numbers(ours))):
            self.notes.append('a copy is shown that journalctl loses')
        else:
            return False
        return True

    def is_complete(self, export):
        """Whether every entry is there, and none more often than there are copies of it."""
        if self.copies is None:
            return len(set(entries(export))) == self.total
        seen = numbers(export)
        return all(1 <= seen.count(n) <= c for n, c in enumerate(self.copies))

    def total_of_files(self):
        """How many different entries the files hold, asked one by one."""
        found = set()
        for f in self.files:
            found.update(entries(run(self.journalctl, [f], '-o', 'export')))
        return len(found)

    def compare(self):
        """Returns whether the set is well-defined."""
        if self.copies is None:
            self.total = self.total_of_files()
        wanted = self.reference()
        ours = run(self.jscan, self.orders[0], '-o', 'export')
        for order in self.orders[1:4]:
            if run(self.jscan, order, '-o', 'export') != ours:
                self.differ('the listing depends on the order of the files')
        if not self.is_complete(ours):
            self.differ('the listing is not complete')
        if wanted is None or not self.is_complete(wanted):
            return False
        if not self.same(ours, wanted):
            if self.is_chance(ours, wanted):
                return False
            self.differ('export')
            return True
        if run(self.jscan, self.orders[1], '-o', 'short') != \
                run(self.journalctl, self.orders[0], '-o', 'short'):
            self.differ('short')
        self.compare_tail(entries(ours), self.compare_backward(entries(ours)))
        self.compare_matches()
        return True

    def compare_backward(self, listing):
        """Returns whether -r is the mirror."""
        ours = run(self.jscan, self.orders[2], '-o', 'export', '-r')
        if self.mirrors(ours, listing):
            return True
        wanted = self.reference('-r')
        if wanted is not None and self.mirrors(wanted, listing):
            if not self.is_chance(ours, wanted, '-r'):
                self.differ('-r is no mirror, for journalctl it is')
        elif wanted is not None and not self.same(ours, wanted) and self.is_complete(wanted):
            self.differ('-r')
        else:
            self.notes.append('-r is no mirror, for journalctl neither')
        return False

    def mirrors(self, export, listing):
        """Whether an export is a listing backward."""
        backward = b''.join(e + b'\n\n' for e in listing[::-1])
        return self.same(export, backward)

    def compare_tail(self, listing, is_mirrored):
        count = self.random.randint(1, len(listing) + 1)
        ours = run(self.jscan, self.orders[3], '-o', 'export', '-n', str(count))
        wanted = self.reference('-n', str(count))
        if wanted is not None and self.same(ours, wanted):
            return
        if self.same(ours, b''.join(e + b'\n\n' for e in listing[-count:])):
            self.notes.append('-n is the end of the listing, but not for journalctl')
        elif is_mirrored:
            self.differ('-n %d' % count)
        else:
            self.notes.append('-n differs where -r is no mirror')

    def compare_matches(self):
        number = self.random.randrange(len(self.copies)) if self.copies else 1
        for match in (['PRIORITY=3'], ['PRIORITY=6', 'PRIORITY=3'],
                      ['PRIORITY=3', '+', 'MESSAGE=entry %d' % number],
                      ['PRIORITY=3', 'MESSAGE=entry %d' % number]):
            ours = run(self.jscan, self.orders[4], '-o', 'export', *match)
            wanted = self.reference(*match)
            if wanted is not None and self.same(ours, wanted):
                continue
            if wanted is None or len(entries(wanted)) < len(set(entries(ours))):
                self.notes.append('matched entries are not well-defined')
            else:
                self.differ(' '.join(match))


def compare_set(options, kind, seed):
    """Makes one set and compares. Returns kind, seed and the comparison."""
    folder = tempfile.mkdtemp(prefix='jscan-order-')
    try:
        lines = subprocess.run([options.make_set, kind, str(seed), folder], check=True,
                               stdout=subprocess.PIPE).stdout.decode().split('\n')[:-1]
        files = [line for line in lines if line.startswith('/')]
        c = Comparison(options, files, [int(x) for x in lines[len(files):]], seed)
        c.well_defined = c.compare()
        if c.differences and options.keep:
            shutil.copytree(folder, os.path.join(options.keep, '%s-%d' % (kind, seed)),
                            dirs_exist_ok=True)
        return kind, seed, c
    finally:
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('jscan')
    parser.add_argument('make_set')
    parser.add_argument('--sets', type=int, default=70)
    parser.add_argument('--first', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--keep')
    parser.add_argument('--files', nargs='+')
    options = parser.parse_args()
    options.journalctl = os.environ.get('JSCAN_TEST_JOURNALCTL')
    if not options.journalctl or not shutil.which(options.journalctl):
        print('JSCAN_TEST_JOURNALCTL names no journalctl to compare with')
        return SKIPPED
    if options.files:
        c = Comparison(options, options.files, None, 1)
        well = c.compare()
        print('%s, %d entries, %s' % ('well-defined' if well else 'not well-defined', c.total,
                                      ', '.join(c.differences) or 'no difference'))
        return 1 if c.differences else 0
    count, failed = {k: [0, 0] for k in KINDS}, 0
    notes = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(compare_set, options, KINDS[i % len(KINDS)],
                            options.first + i // len(KINDS)) for i in range(options.sets)]
        for job in concurrent.futures.as_completed(jobs):
            kind, seed, c = job.result()
            count[kind][0] += 1
            count[kind][1] += c.well_defined
            failed += bool(c.differences)
            for note in c.notes:
                notes[note] = notes.get(note, 0) + 1
            if c.differences:
                print('%s %d (%s): %s' % (kind, seed, 'well-defined' if c.well_defined else
                                          'not well-defined', '; '.join(c.differences)), flush=True)
    for kind in KINDS:
        print('%-15s %4d sets, %4d well-defined' % (kind, *count[kind]))
    for note in sorted(notes):
        print('%4d times: %s' % (notes[note], note))
    print('%d sets, %d with differences' % (options.sets, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
