#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks -o json-stable: json-stable.py JSCAN SAMPLE SHARED SCHEMA

Every line is held against the schema, and against what -o export prints for the same entry. The
sample is read, and where the shared folder is there, all of its real and corrupted journals.
"""
import base64
import json
import os
import sys
import tempfile

import corpora
import harness
import schema as schemas

MEMBERS = ['cursor', 'realtime_usec', 'monotonic_usec', 'boot_id', 'seqnum', 'seqnum_id',
           'complete', 'fields']


def parse_export(data):
    """Entries of the export format: lists of (name, value) in their order."""
    entries, fields, at = [], [], 0
    while at < len(data):
        end = data.index(b'\n', at)
        line, at = data[at:end], end + 1
        if not line:
            entries.append(fields)
            fields = []
        elif b'=' in line:
            name, _, value = line.partition(b'=')
            fields.append((name.decode(), value))
        else:
            size = int.from_bytes(data[at:at + 8], 'little')
            fields.append((line.decode(), data[at + 8:at + 8 + size]))
            at += 8 + size + 1
    return entries


def value_bytes(value):
    """The bytes that a value stands for."""
    if 'text' in value:
        return value['text'].encode()
    return base64.b64decode(value['base64'], validate=True)


def is_text(data):
    try:
        data.decode('utf-8')
    except UnicodeDecodeError:
        return False
    return b'\0' not in data


def compare(entry, exported):
    """What is wrong with an entry, by its form in export; None: nothing."""
    header = dict(exported[:6])
    want = {'cursor': header['__CURSOR'].decode(),
            'realtime_usec': int(header['__REALTIME_TIMESTAMP']),
            'monotonic_usec': int(header['__MONOTONIC_TIMESTAMP']),
            'boot_id': header['_BOOT_ID'].decode(),
            'seqnum': int(header['__SEQNUM']),
            'seqnum_id': header['__SEQNUM_ID'].decode()}
    for name, value in want.items():
        if entry[name] != value:
            return '%s is %r, not %r' % (name, entry[name], value)
    fields = {}
    for name, value in exported[6:]:
        fields.setdefault(name, []).append(value)
    got = {name: [value_bytes(v) for v in values] for name, values in entry['fields'].items()
           if name != '_BOOT_ID'}
    # A field without a valid name ends an entry in export.
    if 'unnamed' in entry:
        return None
    if list(got) != list(fields) or got != fields:
        return 'fields are %r, not %r' % (got, fields)
    for values in entry['fields'].values():
        for value in values:
            if ('text' in value) != is_text(value_bytes(value)):
                return 'text and binary are mixed up: %r' % value
    return None


class Stable:
    """The command and the schema."""

    def __init__(self, jscan, schema):
        self.tap = harness.Tap()
        self.jscan = jscan
        with open(schema, encoding='utf-8') as f:
            self.schema = schemas.Schema(json.load(f))

    def run(self, sources, mode, *more, cwd=None):
        return harness.run([self.jscan] + sources + ['-o', mode] + list(more), cwd=cwd)

    def wrong(self, sources, cwd=None, exported=True):
        """What is wrong with what is printed of some files, and how many entries that is."""
        r = self.run(sources, 'json-stable', cwd=cwd)
        if r.status not in (0, 1):
            return 'status %s' % r.status, 0
        lines = r.out.split(b'\n')
        if lines.pop() != b'':
            return 'the last line has no end', 0
        others = parse_export(self.run(sources, 'export', cwd=cwd).out) if exported else None
        if exported and len(others) != len(lines):
            return '%d entries, not %d' % (len(lines), len(others)), 0
        for number, line in enumerate(lines):
            entry = json.loads(line.decode())
            errors = self.schema.errors(entry)
            if not errors and [m for m in entry if m != 'unnamed'] != MEMBERS:
                errors = ['members are %s' % list(entry)]
            if not errors and exported:
                errors = filter(None, [compare(entry, others[number])])
            for error in errors:
                return 'entry %d: %s' % (number, error), 0
        return None, len(lines)

    def test_sample(self, sample):
        error, count = self.wrong(['-D', sample])
        self.tap.point(not error and count > 0, 'the sample follows the schema', str(error))
        plain = self.run(['-D', sample], 'json-stable')
        for options in (['--jobs=4'], ['-a'], ['--io=sync'], ['-m'], ['--utc', '-q']):
            r = self.run(['-D', sample], 'json-stable', *options)
            self.tap.point(r.out == plain.out and r.status == 0,
                           '%s prints the same' % ' '.join(options))
        r = self.run(['-D', sample], 'json-stable', '--output-fields=MESSAGE,_PID')
        good = True
        for line, whole in zip(r.out.splitlines(), plain.out.splitlines()):
            few, every = json.loads(line), json.loads(whole)
            fields = {n: v for n, v in every['fields'].items() if n in ('MESSAGE', '_PID')}
            good &= few == {**{m: every[m] for m in MEMBERS}, 'fields': fields}
        self.tap.point(good and len(r.out.splitlines()) == len(plain.out.splitlines()),
                       '--output-fields prints these fields only')
        text = self.run([], 'json-stable', '--list-boots', '-D', sample)
        self.tap.point(isinstance(json.loads(text.out), list), 'lists are JSON too')

    def test_corpora(self, shared):
        with tempfile.TemporaryDirectory() as scratch:
            corpora.unpack(shared, scratch)
            files, folders, corrupted = corpora.find_targets(scratch)
            total = 0
            for target in files + folders:
                error, count = self.wrong(corpora.source_of(target, folders), cwd=scratch)
                total += count
                self.tap.point(not error, target, str(error))
            for target in corrupted:
                error, count = self.wrong(['--file=' + target], cwd=scratch, exported=False)
                total += count
                self.tap.point(not error, target, str(error))
            self.tap.note('%d entries' % total)


def main():
    jscan, sample, shared, schema = sys.argv[1:]
    stable = Stable(os.path.abspath(jscan), schema)
    stable.test_sample(sample)
    if os.path.exists(os.path.join(shared, 'corpora', 'handed.tar.zst')):
        stable.test_corpora(shared)
    return stable.tap.end()


if __name__ == '__main__':
    sys.exit(main())
