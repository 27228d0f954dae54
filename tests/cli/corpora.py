#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads real journals and corrupted ones.

  corpora.py check JSCAN SHARED HASHES [IO]     compares with what was recorded
  corpora.py corrupted JSCAN SHARED [IO]        reads every corrupted file in several ways
  corpora.py record JOURNALCTL SHARED HASHES    records what a reference prints

SHARED/corpora/handed.tar.zst holds the files. Every journal is read by itself, and every folder
that journals came from as a directory, in several modes and both directions. HASHES has a line for
each: target, mode, direction, exit status, SHA-256 of standard output (JSON members sorted) and of
standard error (lines sorted, since their order is random in the reference).

With IO, jscan reads by that method. Methods differ in how bytes arrive, not in what is made of
them: only one mode is compared then.

A folder's output depends on the order in which the reference meets the files, unless the set is
well-defined: the same entries, all of them, in eight random orders. Where it is not, the line has
"any" for the hash and the number of distinct entries, which jscan must print, each once.
"""
import gzip
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile

import harness

MODES = ('short', 'export', 'json', 'cat', 'verbose')
ORDERS = 8
SECONDS_MAX = 10


def unpack(shared, scratch):
    """Unpacks the corpora, and in them what is compressed. Skips the program if they are absent."""
    archive = os.path.join(shared, 'corpora', 'handed.tar.zst')
    if not os.path.exists(archive):
        harness.skip_all('there is no %s' % archive)
    if not shutil.which('zstd'):
        harness.skip_all('zstd is not installed')
    subprocess.run(['tar', '--zstd', '-xf', os.path.abspath(archive), '-C', scratch], check=True)
    for directory, _, names in os.walk(scratch):
        for name in names:
            path = os.path.join(directory, name)
            if name.endswith('.gz'):
                with gzip.open(path) as f, open(path[:-3], 'wb') as g:
                    shutil.copyfileobj(f, g)
                os.unlink(path)
            elif name.endswith('.zst'):
                subprocess.run(['zstd', '-q', '-d', '--rm', '-f', path], check=True)


def is_journal(name):
    return name.endswith(('.journal', '.journal~'))


def find_targets(scratch):
    """The real journals and the folders that have some, relative to SCRATCH; then the corrupted."""
    files, folders, corrupted = [], [], []
    for directory, names, leaves in sorted(os.walk(scratch)):
        names.sort()
        where = os.path.relpath(directory, scratch)
        if where.split(os.sep)[0] == 'corrupted':
            corrupted += [os.path.join(where, leaf) for leaf in sorted(leaves)]
            continue
        journals = [os.path.join(where, leaf) for leaf in sorted(leaves) if is_journal(leaf)]
        if journals:
            files += journals
            folders.append(where)
    return files, folders, corrupted


def digest(data):
    return hashlib.sha256(data).hexdigest()


def read(program, sources, mode, reverse, scratch, timeout=120):
    """Runs a reader; its standard output and error in the form that hashes are made of."""
    arguments = [program] + sources + ['-o', mode] + (['-r'] if reverse else [])
    r = harness.run(arguments, timeout=timeout, cwd=scratch)
    out = harness.json_sorted(r.out) if mode == 'json' else r.out
    err = b'\n'.join(sorted(r.err.replace(os.path.realpath(scratch).encode(), b'@DIR@')
                            .split(b'\n')))
    return r.status, out, err


def source_of(target, folders):
    return ['-D', target] if target in folders else ['--file=' + target]


def cursors(program, sources, scratch):
    """The cursors of all entries that a reader prints, in order."""
    _, out, _ = read(program, sources, 'export', False, scratch)
    return [line for line in out.split(b'\n') if line.startswith(b'__CURSOR=')]


def well_defined(program, folder, scratch):
    """Whether a folder's files give the same, complete output in any order; its entries."""
    names = [os.path.join(folder, n) for n in sorted(os.listdir(os.path.join(scratch, folder)))
             if is_journal(n)]
    usable, distinct = [], set()
    for name in names:
        if read(program, ['--file=' + name], 'cat', False, scratch)[0] == 0:
            usable.append('--file=' + name)
            distinct.update(cursors(program, ['--file=' + name], scratch))
    outputs = set()
    shuffled = random.Random(1)
    for _ in range(ORDERS):
        shuffled.shuffle(usable)
        outputs.add(tuple(cursors(program, usable, scratch)))
    good = len(outputs) == 1 and set(next(iter(outputs))) == distinct
    return good, len(distinct)


def record(journalctl, shared, hashes):
    """Writes the file of hashes."""
    lines = []
    with tempfile.TemporaryDirectory() as scratch:
        unpack(shared, scratch)
        files, folders, _ = find_targets(scratch)
        for target in files + folders:
            good, count = True, 0
            if target in folders:
                good, count = well_defined(journalctl, target, scratch)
            for mode in MODES:
                for reverse in (False, True):
                    status, out, err = read(journalctl, source_of(target, folders), mode, reverse,
                                            scratch)
                    lines.append('\t'.join((
                        target, mode, 'backward' if reverse else 'forward', str(status),
                        digest(out) if good else 'any:%d' % count, digest(err))))
    with open(hashes, 'w', encoding='utf-8') as f:
        f.write('# SPDX-License-Identifier: MIT\n')
        f.write('# Made by corpora-record.sh: target, mode, direction, status, output, messages\n')
        f.write('\n'.join(lines) + '\n')


def check(jscan, shared, hashes, options):
    """Compares with the file of hashes."""
    tap = harness.Tap()
    with open(hashes, encoding='utf-8') as f:
        rows = [line.rstrip('\n').split('\t') for line in f if not line.startswith('#')]
    with tempfile.TemporaryDirectory() as scratch:
        unpack(shared, scratch)
        files, folders, _ = find_targets(scratch)
        known = {row[0] for row in rows}
        for target in files + folders:
            tap.point(target in known, 'expectations are there for %s' % target)
        for target, mode, direction, status, out_hash, err_hash in rows:
            if options and mode != 'export':
                continue
            sources = options + source_of(target, folders)
            got_status, out, err = read(jscan, sources, mode, direction == 'backward', scratch)
            wrong = []
            if str(got_status) != status:
                wrong.append('exit status %s, not %s' % (got_status, status))
            if out_hash.startswith('any:'):
                found = cursors(jscan, sources, scratch)
                if len(found) != len(set(found)) or len(found) != int(out_hash[4:]):
                    wrong.append('%d entries, %d distinct ones, not %s' %
                                 (len(found), len(set(found)), out_hash[4:]))
                if read(jscan, sources, mode, direction == 'backward', scratch)[1] != out:
                    wrong.append('two runs differ')
            elif digest(out) != out_hash:
                wrong.append('output differs')
            if digest(err) != err_hash:
                wrong.append('messages differ: %r' % err[:1000])
            tap.point(not wrong, '%s %s %s' % (target, mode, direction), '\n'.join(wrong))
    return tap.end()


def check_corrupted(jscan, shared, options):
    """Reads the corrupted files: no crash, no hang, no output of a sanitizer."""
    ways = (['-o', 'export'], ['-o', 'verbose', '-r', '-a'], ['-o', 'json', '-n', '5'],
            ['-o', 'cat', 'PRIORITY=6', '+', '_TRANSPORT=kernel', '--strict'])
    tap = harness.Tap()
    with tempfile.TemporaryDirectory() as scratch:
        unpack(shared, scratch)
        _, _, corrupted = find_targets(scratch)
        together = os.path.join(scratch, 'together')
        os.mkdir(together)
        for number, target in enumerate(corrupted):
            os.link(os.path.join(scratch, target),
                    os.path.join(together, '%03d.journal' % number))
        runs = [(target, ['--file=' + os.path.join(scratch, target)]) for target in corrupted]
        runs.append(('all of them together', ['-D', together]))
        for name, source in runs:
            wrong = []
            for way in ways:
                r = harness.run([jscan] + options + source + way, timeout=SECONDS_MAX *
                                (1 if name in corrupted else 12))
                if r.status is None:
                    wrong.append('%s: no end within the time' % ' '.join(way))
                elif r.status not in (0, 1, 3):
                    wrong.append('%s: status %d: %s' % (' '.join(way), r.status, r.err[-2000:]))
            tap.point(not wrong, 'corrupted: %s' % os.path.basename(name), '\n'.join(wrong))
    return tap.end()


def main():
    action, program, shared = sys.argv[1:4]
    program = os.path.abspath(shutil.which(program) or program)
    if action == 'record':
        record(program, shared, sys.argv[4])
        return 0
    rest = sys.argv[5:] if action == 'check' else sys.argv[4:]
    options = ['--io=' + rest[0]] if rest else []
    if action == 'check':
        return check(program, shared, sys.argv[4], options)
    return check_corrupted(program, shared, options)


if __name__ == '__main__':
    sys.exit(main())
