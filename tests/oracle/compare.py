#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares jscan with journalctl on random journals and random command lines.

Sets of journals are made from a seed (journals.py), with several command lines for each
(commands.py). Standard output, standard error, exit status and the cursor file have to be the same;
the members of JSON objects are compared as sets, since journalctl's order is random. Differences
that are meant stand in known.py. Every other one is printed with the command that shows it again.

The journalctl is the one that JSCAN_TEST_JOURNALCTL names, if none is given; without one, or
without systemd-journal-remote, the test is skipped (77).

usage: compare.py [--journalctl PATH] [--jscan PATH] [--remote PATH]... [--count N] [--seed N]
                  [--jobs N] [--alike] [--only SET[.LINE]] [--keep FOLDER]

  --alike   ask only for what versions 252 and 262 do alike, and leave their messages aside
  --only    one set, or one of its command lines; with --keep its files stay in that folder
"""
import argparse
import concurrent.futures
import os
import random
import re
import shlex
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'cli'))
import commands
import harness
import journals
import known

LINES_PER_SET = 20
SKIPPED = 77
SHOWN_BEFORE, SHOWN_AFTER = 60, 100
SYSTEM_REMOTE = '/lib/systemd/systemd-journal-remote'
COLOUR = rb'(?:\x1b\[[0-9:;]*m)*'
SEQNUM_EXPORT = re.compile(rb'^__SEQNUM(?:_ID)?=.*\n', re.M)


def sort_members(data, dropped):
    """JSON text with the members of each outermost object sorted, less those whose names begin with
    one of DROPPED; all other bytes stay."""
    out, i = bytearray(), 0
    token = re.compile(rb'"(?:[^"\\]|\\.)*"|\x1b\[[0-9:;]*m|[][{},]|[^][{},"\x1b]+|.', re.S)
    depth, members, member = 0, [], bytearray()
    for m in token.finditer(data):
        t = m.group(0)
        if t in (b'{', b'['):
            if depth == 0 and t == b'{':
                members, member, depth = [], bytearray(), 1
                out += t
                continue
            if depth:
                depth += 1
        elif t in (b'}', b']') and depth:
            depth -= 1
            if depth == 0:
                members.append(bytes(member).strip())
                out += b','.join(sorted(m for m in members if not m.startswith(dropped))) + t
                member = bytearray()
                continue
        elif t == b',' and depth == 1:
            members.append(bytes(member).strip())
            member = bytearray()
            continue
        if depth:
            member += t
        else:
            out += t
    return bytes(out) + bytes(member)


def first_difference(a, b):
    """Where two outputs differ first, for people."""
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    begin = max(0, at - SHOWN_BEFORE)
    return 'byte %d: wanted %r, got %r' % (at, a[begin:at + SHOWN_AFTER], b[begin:at + SHOWN_AFTER])


class Trial:
    """One command line, run with both programs."""

    def __init__(self, options, journal_set, command, number):
        self.options, self.set, self.command, self.number = options, journal_set, command, number
        self.kept_path = os.path.join(journal_set.folder, 'cursor')

    def run(self, program, words):
        """Runs a program; what it keeps in the cursor file belongs to the result."""
        command, stdin = self.command, None
        words = list(words)
        if command.cursor_file is not None:
            with open(self.kept_path, 'w', encoding='utf-8') as f:
                f.write(command.cursor_file + '\n')
            words.append('--cursor-file=' + self.kept_path)
        if command.stdin:
            stdin = os.open(command.stdin, os.O_RDONLY)
        try:
            result = harness.run([program] + words, environment=command.environment,
                                 stdin=stdin if stdin is not None else harness.subprocess.DEVNULL)
        finally:
            if stdin is not None:
                os.close(stdin)
        result.kept = b''
        if command.cursor_file is not None and os.path.exists(self.kept_path):
            with open(self.kept_path, 'rb') as f:
                result.kept = f.read()
            os.unlink(self.kept_path)
        result.out, result.err = self.normal_out(result.out), self.normal_err(result.err)
        return result

    def normal_out(self, out):
        """Standard output without what is random, or another for an older version."""
        command = self.command
        several = len(command.paths or command.reads_all) > 1
        if self.options.alike:
            out = SEQNUM_EXPORT.sub(b'', out)
            out = re.sub(rb'\[(\d+)\.0([KM]) blob data\]', rb'[\1\2 blob data]', out)
        if command.action == 'show' and command.mode.startswith('json'):
            out = sort_members(out, (b'"__SEQNUM',) if self.options.alike else ())
        if command.action == 'show' and command.mode == 'cat' and self.names_fields():
            out = b'\n'.join(sorted(out.split(b'\n')))
        if command.action in ('names', 'values') and several:
            out = b'\n'.join(sorted(out.split(b'\n')))
        if command.action == 'header' and several:
            out = b'\n\n'.join(sorted(out.rstrip(b'\n').split(b'\n\n')))
        return out

    def names_fields(self):
        """Whether several fields are to be printed: journalctl does so in a random order."""
        return any(w.startswith('--output-fields=') and ',' in w for w in self.command.words)

    def normal_err(self, err):
        """Standard error; --verify goes through the files in their order."""
        if self.options.alike:
            return b''
        if self.command.action == 'verify':
            err = b'\n'.join(sorted(err.split(b'\n')))
        return err

    def ours(self):
        return self.run(self.options.link, self.command.words)

    def reference(self, source=None):
        """What journalctl says, of the command's files or as named here."""
        words = self.command.words
        if source is not None:
            words = source + [w for i, w in enumerate(words)
                              if w not in self.command.source]
        return self.run(self.options.journalctl, words)

    def list_with_tail(self, words):
        """The cursors of what journalctl shows, of what it would show without -n, and backward;
        None if it does not count back to begin with."""
        if not any(w.startswith(('-n', '--lines', '-e')) for w in words) or any(
                w in ('-r', '--reverse') or w.startswith(('-g', '--grep')) for w in words):
            return None
        at = words.index('--') if '--' in words else len(words)
        found = []
        for more in ([], ['--no-tail'], ['--no-tail', '-r']):
            out = self.run(self.options.journalctl,
                           words[:at] + ['-q', '-o', 'export'] + more + words[at:]).out
            found.append(re.findall(rb'^__CURSOR=(.*)$', out, re.M))
        return found

    def ask_reference(self, *words):
        """What journalctl prints of the files that the command reads."""
        paths = self.command.paths or self.command.reads_all
        return harness.run([self.options.journalctl, '-q', *words,
                            *('--file=' + p for p in paths)]).out

    def has_parts(self, name):
        """Whether some value of a field comes again after another, in journalctl's listing."""
        out = self.ask_reference('-o', 'export', '--output-fields=' + name)
        values = re.findall(rb'^%s=(.*)$' % name.encode(), out, re.M)
        runs = [v for i, v in enumerate(values) if i == 0 or v != values[i - 1]]
        return len(runs) > len(set(runs))

    def boots_of_entries(self, *words):
        """The boots of journalctl's listing of entries, in the order in which they begin."""
        out = self.ask_reference('-o', 'export', '--output-fields=_BOOT_ID', *words)
        return list(dict.fromkeys(re.findall(rb'^_BOOT_ID=(.*)$', out, re.M)))

    def listed_boots(self):
        """The boots of journalctl's own list."""
        return re.findall(rb'^ *-?\d+ ([0-9a-f]{32}) ', self.ask_reference('--list-boots'), re.M)

    def lists_less(self):
        """Whether jscan's list of all boots, or its answer if it lists invocations, lacks a row
        that journalctl's has."""
        if self.command.action == 'boots':
            paths = self.command.paths or self.command.reads_all
            ours = harness.run([self.options.link, '-q', '--list-boots',
                                *('--file=' + p for p in paths)]).out
            theirs = self.ask_reference('--list-boots')
        elif any(w.startswith(('-n', '--lines')) for w in self.command.words):
            return False # rows that the one lacks make others pass the limit
        else:
            ours, theirs = self.ours().out, self.reference().out
        return not set(re.findall(rb'[0-9a-f]{32}', theirs)) <= set(
            re.findall(rb'[0-9a-f]{32}', ours))

    def differences(self):
        """What differs, as lines for people; none: nothing."""
        a, b = self.reference(), self.ours()
        found = []
        if a.status != b.status:
            found.append('status: wanted %s, got %s' % (a.status, b.status))
        for what, x, y in (('stdout', a.out, b.out), ('stderr', a.err, b.err),
                           ('cursor file', a.kept, b.kept)):
            if x != y:
                found.append('%s: %s' % (what, first_difference(x, y)))
        return found

    def describe(self, found):
        """A difference, and how to see it again."""
        c = self.command
        lines = ['%s (%s): %s' % (self.number, self.set.shape, '; '.join(found))]
        words = list(c.words)
        if c.cursor_file is not None:
            words.append('--cursor-file=FILE_WITH:%s' % c.cursor_file)
        lines.append('    %s journalctl %s%s' % (
            ' '.join('%s=%s' % (k, shlex.quote(v)) for k, v in c.environment.items()),
            shlex.join(words), ' < ' + c.stdin if c.stdin else ''))
        lines.append('    again: %s --only %s --keep FOLDER' % (self.options.again, self.number))
        return '\n'.join(lines)


def run_set(options, number):
    """Makes one set and runs its command lines. Returns how many, and what was found."""
    only = options.only
    rng = random.Random('%d/%d' % (options.seed, number))
    folder = os.path.join(options.folder, 'set-%d' % number)
    os.makedirs(folder)
    unexplained, explained, count = [], [], 0
    try:
        journal_set = journals.Set(rng, options.alike)
        journal_set.build(folder, options.remote)
        probe = harness.run([options.journalctl, '-q', '-o', 'export', '--output-fields=_BOOT_ID',
                             *('--file=' + p for p in journal_set.paths)])
        cursors = [c.decode() for c in re.findall(rb'^__CURSOR=(.*)$', probe.out, re.M)]
        for line in range(LINES_PER_SET):
            if only and len(only) > 1 and only[1] != line:
                continue
            rng = random.Random('%d/%d.%d' % (options.seed, number, line))
            command = commands.Commands(rng, journal_set, cursors, options.alike).make()
            trial = Trial(options, journal_set, command, '%d.%d' % (number, line))
            count += 1
            found = trial.differences()
            if not found:
                continue
            why = known.explain(trial)
            (explained if why else unexplained).append(
                trial.describe(found) + ('\n    known: ' + why.name if why else ''))
    finally:
        if not options.keep:
            shutil.rmtree(folder)
    return count, unexplained, explained


def parse_arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('--journalctl', default=os.environ.get('JSCAN_TEST_JOURNALCTL', ''))
    parser.add_argument('--jscan', default='jscan')
    parser.add_argument('--remote', action='append', default=[])
    parser.add_argument('--count', type=int, default=1000)
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--alike', action='store_true')
    parser.add_argument('--only')
    parser.add_argument('--keep')
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    options.again = '%s --jscan %s --journalctl %s%s%s --seed %d' % (
        sys.argv[0], options.jscan, options.journalctl,
        ''.join(' --remote ' + r for r in options.remote), ' --alike' if options.alike else '',
        options.seed)
    options.only = [int(x) for x in options.only.split('.')] if options.only else None
    options.jscan = shutil.which(options.jscan)
    options.journalctl = shutil.which(options.journalctl)
    if not options.remote:
        beside = os.path.join(os.path.dirname(options.journalctl or ''), 'journal-remote')
        options.remote = [beside, SYSTEM_REMOTE]
    options.remote = [r for r in options.remote if os.access(r, os.X_OK)]
    return options


def main():
    options = parse_arguments()
    if not options.jscan or not options.journalctl or not options.remote:
        print('jscan, journalctl or systemd-journal-remote is missing')
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix='jscan-compare-') as scratch:
        options.folder = os.path.abspath(options.keep) if options.keep else scratch
        options.link = os.path.join(scratch, 'journalctl') # messages begin with the program's name
        os.symlink(os.path.abspath(options.jscan), options.link)
        sets = range(-(-options.count // LINES_PER_SET))
        if options.only:
            sets = [options.only[0]]
        count = failed = 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for job in [pool.submit(run_set, options, n) for n in sets]:
                lines, unexplained, explained = job.result()
                count += lines
                failed += len(unexplained)
                for text in unexplained + (explained if options.verbose or options.only else []):
                    print(text, flush=True)
    for entry in known.KNOWN:
        print('%5d times: %s' % (entry.count, entry.name))
    findings = known.judge(count)
    print('\n'.join(findings + ['seed %d: %d command lines, %d unexplained differences' %
                                (options.seed, count, failed)]))
    return 1 if failed or findings else 0


if __name__ == '__main__':
    sys.exit(main())
