#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Asks random questions by index and by testing each entry.

  queries.py [--seed N] [--questions N] [--archive FOLDER]... JSCAN MAKE_SET SAMPLE SHARED

A question is a mixture of matches of several fields in conjunction and disjunction, units, boots,
priorities, a pattern, bounds, a cursor, a direction, and a number of entries from either end. Of
each archive it is asked with the plan that the indexes give and with --plan=scan, which tests entry
by entry: both must print the same bytes. Beside that --count must be the number of entries printed,
--top what counting their values gives, and --histogram what counting their times gives.

Archives are the sample, the sample with copies of some files, sets of every kind that make-set
knows (rotated, overlapping, repeated entries, clocks that step), the folders of real journals in
SHARED if that is there (but for a file that lost the contents of an entry), and those named by
--archive. So many questions are asked of each; seeds make them the same each time.
"""
import argparse
import collections
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
# pylint: disable=wrong-import-position
import corpora
import harness

KINDS = ('rotated', 'system-user', 'ranked-boots', 'unranked-boots', 'remote', 'duplicates',
         'adversarial')
FIELDS = ('_SYSTEMD_UNIT', 'PRIORITY', '_TRANSPORT', '_UID', 'SYSLOG_IDENTIFIER', '_PID',
          '_MACHINE_ID', 'MESSAGE', '_BOOT_ID')
# Not the last: export prints the boot that an entry is filed under, whatever the field says.
COUNTED = FIELDS[:-2]
PATTERNS = ('e', 'entry [0-9]*7', 'start', 'a.*b', 'Started|Stopped', 'nothing at all')


def parse_export(data):
    """The entries of an export stream, each a list of (name, value)."""
    entries, at = [], 0
    while at < len(data):
        fields = []
        while data[at:at + 1] not in (b'\n', b''):
            end = data.index(b'\n', at)
            name, equals, value = data[at:end].partition(b'=')
            at = end + 1
            if not equals:
                size = int.from_bytes(data[at:at + 8], 'little')
                value = data[at + 8:at + 8 + size]
                at += 8 + size + 1
            fields.append((name.decode(), value))
        entries.append(fields)
        at += 1
    return entries


class Archive:
    """Journals, and what there is to ask for."""

    def __init__(self, jscan, name, folder):
        self.jscan, self.name = jscan, name
        self.source = ['-D', folder, '-q', '--no-pager', '-a']
        self.entries = parse_export(self.run(['-o', 'export']).out)
        self.times = sorted(int(dict(e)['__REALTIME_TIMESTAMP']) for e in self.entries)
        self.cursors = [dict(e)['__CURSOR'].decode() for e in self.entries]
        values = collections.defaultdict(set)
        for entry in self.entries:
            for field, value in entry:
                if field in FIELDS and b'\0' not in value and len(value) < 200:
                    values[field].add(value)
        self.values = {field: sorted(found) for field, found in sorted(values.items())}

    def run(self, options):
        return harness.run([self.jscan] + self.source + options, timeout=300)

    def question(self, rng):
        """Options that choose entries."""
        words = []
        if self.values:
            words += self.matches(rng)
        if rng.random() < 0.2 and self.values.get('_SYSTEMD_UNIT'):
            words += ['-u', os.fsdecode(rng.choice(self.values['_SYSTEMD_UNIT']))]
        if rng.random() < 0.2:
            words += ['-b', str(rng.choice((0, -1, -2, 1, 2)))]
        if rng.random() < 0.15:
            words += ['-p', rng.choice(('err', 'info', 'warning..notice'))]
        if rng.random() < 0.2:
            words += ['-g', rng.choice(PATTERNS)]
        words += self.place(rng)
        if rng.random() < 0.3:
            words += ['-r']
        if rng.random() < 0.4:
            words += ['-n', rng.choice(('', '+')) + str(rng.choice((0, 1, 3, 10, 100)))]
        return words

    def matches(self, rng):
        """Terms with "+" between some of them."""
        words = []
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3, 5))):
            if words and words[-1] != '+' and rng.random() < 0.3:
                words.append('+')
            field = rng.choice(list(self.values))
            words.append(field + '=' + os.fsdecode(rng.choice(self.values[field])))
        return words

    def place(self, rng):
        """Bounds, and where to begin."""
        words = []
        if rng.random() < 0.5:
            return words
        span = max(1, self.times[-1] - self.times[0])
        since = self.times[0] + int(span * rng.uniform(-0.1, 1.1))
        until = since + int(span * rng.choice((0, 0.001, 0.1, 0.5)))
        if rng.random() < 0.6:
            words += ['-S', '@%d.%06d' % divmod(since, 1000000)]
        if rng.random() < 0.6:
            words += ['-U', '@%d.%06d' % divmod(until, 1000000)]
        if rng.random() < 0.2 and words:
            words.append('--complete')
        elif rng.random() < 0.3 and '-S' not in words:
            words += [rng.choice(('--cursor', '--after-cursor')), rng.choice(self.cursors)]
        return words

    def check(self, words, rng):
        """Complaints about one question."""
        scanned = self.run(words + ['-o', 'export', '--plan=scan'])
        planned = self.run(words + ['-o', 'export'])
        if (scanned.status, scanned.out, scanned.err) != (planned.status, planned.out, planned.err):
            return ['by index: status %s, not %s, %s %s' % (
                planned.status, scanned.status, harness.difference(scanned.out, planned.out),
                planned.err.decode(errors='replace'))]
        entries = parse_export(scanned.out)
        wrong = []
        r = self.run(words + ['--count'])
        if scanned.status in (0, 1) and not scanned.err and r.out != b'%d\n' % len(entries):
            wrong.append('--count is %r, not %d' % (r.out + r.err, len(entries)))
        wrong += self.check_top(words, entries, rng.choice(COUNTED))
        wrong += self.check_histogram(words, entries, rng.choice((1, 60, 3600, 86400)))
        return wrong

    def check_top(self, words, entries, field):
        """The values of a field."""
        want = collections.Counter(value for entry in entries for name, value in entry
                                   if name == field)
        r = self.run(words + ['--top=' + field + ':1000000', '-o', 'json'])
        if r.status not in (0, 1) or not r.out:
            return ['--top=%s: %r' % (field, r.err)] if entries else []
        rows = json.loads(r.out)
        counts = [row['count'] for row in rows]
        got = {row['value'].encode(): row['count'] for row in rows}
        if got != dict(want) or counts != sorted(counts, reverse=True):
            return ['--top=%s is %s, not %s' % (field, got, dict(want))]
        return []

    def check_histogram(self, words, entries, seconds):
        """Entries by time: steps without a hole from the first to the last."""
        step = seconds * 1000000
        want = collections.Counter(
            int(value) // step * step for entry in entries for name, value in entry
            if name == '__REALTIME_TIMESTAMP')
        if want and (max(want) - min(want)) // step >= 100000:
            return []
        r = self.run(words + ['--histogram=%ds' % seconds, '-o', 'json'])
        rows = json.loads(r.out) if r.out else []
        got = {row['time']: row['count'] for row in rows}
        full = {t: want[t] for t in range(min(want), max(want) + 1, step)} if want else {}
        if got != full or any(row['step'] != step for row in rows) or list(got) != sorted(got):
            return ['--histogram=%ds is %s, not %s: %r' % (seconds, got, full, r.err)]
        if entries and seconds > 60:
            return self.check_bars(words, full, seconds)
        return []

    def check_bars(self, words, full, seconds):
        """The same as bars: the longest for the most, none for nothing."""
        r = self.run(words + ['--histogram=%ds' % seconds, '-o', 'short'])
        lines = r.out.decode().splitlines()
        bars = [line.partition(' UTC')[2].split() + [''] for line in lines]
        counts = [int(bar[0]) for bar in bars]
        lengths = [len(bar[1]) for bar in bars]
        most = max(counts, default=0)
        if counts != [full[t] for t in sorted(full)] or \
                any(bool(c) != bool(n) for c, n in zip(counts, lengths)) or \
                any(n > max(lengths) for c, n in zip(counts, lengths) if c < most):
            return ['bars of --histogram=%ds: %s' % (seconds, r.out.decode())]
        return []


def with_copies(folder, copied, rng):
    """A folder with the same files, and copies of some under other names."""
    shutil.copytree(folder, copied)
    for name in sorted(os.listdir(folder)):
        if '.journal' in name and rng.random() < 0.6:
            shutil.copyfile(os.path.join(folder, name), os.path.join(copied, 'copy-' + name))


def drop_torn(jscan, folder):
    """Removes journals with an entry whose items a crash lost: only their index has it right."""
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        r = harness.run([jscan, '-q', '-a', '-o', 'export', '--file=' + path])
        if any(all(field.startswith('__') or field == '_BOOT_ID' for field, _ in entry)
               for entry in parse_export(r.out)):
            os.unlink(path)


def find_archives(o, scratch):
    """Names and folders."""
    yield 'sample', o.sample
    with_copies(o.sample, os.path.join(scratch, 'copies'), random.Random(o.seed))
    yield 'sample with copies', os.path.join(scratch, 'copies')
    for kind in KINDS:
        for seed in range(o.seed, o.seed + 2):
            folder = os.path.join(scratch, '%s-%d' % (kind, seed))
            os.mkdir(folder)
            subprocess.run([o.make_set, kind, str(seed), folder], check=True,
                           stdout=subprocess.DEVNULL)
            yield 'set %s %d' % (kind, seed), folder
    if os.path.exists(os.path.join(o.shared, 'corpora', 'handed.tar.zst')) and shutil.which('zstd'):
        unpacked = os.path.join(scratch, 'corpora')
        os.mkdir(unpacked)
        corpora.unpack(o.shared, unpacked)
        for folder in corpora.find_targets(unpacked)[1]:
            drop_torn(os.path.abspath(o.jscan), os.path.join(unpacked, folder))
            yield folder, os.path.join(unpacked, folder)
    for folder in o.archive:
        yield os.path.basename(folder), folder


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--questions', type=int, default=6)
    p.add_argument('--archive', action='append', default=[], metavar='FOLDER')
    p.add_argument('jscan')
    p.add_argument('make_set')
    p.add_argument('sample')
    p.add_argument('shared')
    o = p.parse_args()
    tap = harness.Tap()
    with tempfile.TemporaryDirectory() as scratch:
        for name, folder in find_archives(o, scratch):
            archive = Archive(os.path.abspath(o.jscan), name, folder)
            wrong, rng = [], random.Random('%d %s' % (o.seed, name))
            for _ in range(o.questions if archive.entries else 0):
                words = archive.question(rng)
                wrong += [' '.join(words) + ': ' + text for text in archive.check(words, rng)]
            tap.point(not wrong, '%s, %d entries' % (name, len(archive.entries)),
                      '\n'.join(text[:2000] for text in wrong))
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
