#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Tests of --checkpoint: checkpoint.py JSCAN SAMPLE

Runs that print a few entries each must together print what one run prints. Followers of a file that
is being written and rotated are ended by signals at random points: by SIGTERM each entry is had
once; by SIGKILL none is lost. What needs systemd-journal-remote is left out without it. TAP.
"""
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import follow
import harness

ENTRIES = 3000
UNIQUE = 4


class Writer(threading.Thread):
    """Has journal-remote write two sources, the first of which is rotated now and then."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.start()

    def run(self):
        first = os.path.join(self.folder, 'remote.journal')
        second = os.path.join(self.folder, 'other.journal')
        for serial in range(6):
            numbers = range(serial * 500, serial * 500 + 500)
            follow.write(first, (n for n in numbers if n % 3), UNIQUE, 0.002)
            follow.write(second, (n for n in numbers if n % 3 == 0), UNIQUE, 0.002)
            follow.rotate(self.folder, serial + 1)


def follow_killed(jscan, how, chance, seconds):
    """Followers one after the other, ended at random; the numbers that all of them printed."""
    numbers, runs = [], 0
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as keep:
        path = os.path.join(keep, 'checkpoint')
        writer = Writer(folder)
        while True:
            alive = writer.is_alive()
            reader = follow.Reader(jscan, folder, '--checkpoint=' + path)
            time.sleep(chance.random() * seconds if alive else 3)
            reader.stop(how if alive else signal.SIGTERM)
            numbers += reader.numbers
            runs += 1
            if not alive:
                break
        writer.join()
    return numbers, runs


class Checkpoint(harness.Suite):
    """The command, the sample and a scratch folder."""

    def keep(self):
        return '--checkpoint=' + os.path.join(self.scratch, 'checkpoint')

    def forget(self):
        path = os.path.join(self.scratch, 'checkpoint')
        if os.path.exists(path):
            os.unlink(path)

    def test_runs(self):
        """Runs of N entries."""
        cases = [(), ('-g', 'e'), ('PRIORITY=6',), ('--jobs=1',), ('-S', '2024-04-01'),
                 ('--plan=scan', 'PRIORITY=6')]
        for case in cases:
            for count in (1, 7, 1000):
                self.forget()
                want = self.run('-D', self.sample, '-o', 'export', *case)
                got, runs = b'', 0
                while runs < 1000:
                    r = self.run('-D', self.sample, '-o', 'export', '-n', '+%d' % count,
                                 self.keep(), *case)
                    runs += 1
                    if not r.out:
                        break
                    got += r.out
                self.point('runs of %d %s' % (count, ' '.join(case)),
                           got == want.out and r.err == want.err, r)

    def test_refusals(self):
        """What does not go with it, and files that are none."""
        for options in (('-r',), ('-n', '5'), ('--cursor=t=1',), ('--cursor-file=x',)):
            r = self.run('-D', self.sample, self.keep(), *options)
            self.point('refused with ' + options[0], r.status == 1 and r.out == b'' and
                       r.err.startswith(b'--checkpoint= says where to begin'), r)
        r = self.run('-D', self.sample, self.keep(), '--list-boots')
        self.point('refused without entries',
                   (r.status, r.err) == (1, b'--checkpoint= is for entries only.\n'), r)
        path = os.path.join(self.scratch, 'checkpoint')
        for text, message in ((b'nonsense', 'does not hold a checkpoint'),
                              (b'jscan-checkpoint 1 1\n', 'does not hold a checkpoint'),
                              (b'jscan-checkpoint 9 0\n', 'holds a checkpoint of a later version')):
            with open(path, 'wb') as f:
                f.write(text)
            r = self.run('-D', self.sample, self.keep())
            self.point('refuses %s' % text, r.status == 1 and r.out == b'' and
                       r.err == ('%s %s.\n' % (path, message)).encode(), r)
        r = self.run('-D', self.sample, '--checkpoint=/nowhere/at/all')
        self.point('cannot be written', r.status == 1 and
                   r.err == b'Failed to write checkpoint /nowhere/at/all: No such file or '
                            b'directory\n', r)

    def test_text(self):
        """The file is replaced as a whole, and each line is a cursor."""
        self.forget()
        self.run('-D', self.sample, self.keep())
        with open(os.path.join(self.scratch, 'checkpoint'), 'rb') as f:
            lines = f.read().decode().split('\n')
        r = self.run('-D', self.sample, '-o', 'export', '-n', '1')
        last = re.search(rb'__CURSOR=(.*)', r.out).group(1).decode()
        self.point('the last line is the cursor of the last entry',
                   len(lines) == 2 + int(lines[0].split()[2]) + int(lines[0].split()[3]) and
                   lines[int(lines[0].split()[2])] == last and
                   os.listdir(self.scratch).count('checkpoint') == 1,
                   r)

    def test_follow(self):
        """Followers that are ended."""
        if not os.access(follow.REMOTE, os.X_OK):
            self.tap.note('no journal-remote: followers are not tested')
            return
        chance = random.Random(3)
        numbers, runs = follow_killed(self.jscan, signal.SIGTERM, chance, 0.3)
        self.tap.note('%d followers ended' % runs)
        self.tap.point(sorted(numbers) == list(range(ENTRIES)),
                       'followers that are ended have each entry once',
                       follow.differences(numbers, ENTRIES))
        numbers, runs = follow_killed(self.jscan, signal.SIGKILL, chance, 2)
        self.tap.note('%d followers killed; %d entries had again' %
                      (runs, len(numbers) - len(set(numbers))))
        self.tap.point(set(numbers) == set(range(ENTRIES)),
                       'followers that are killed lose none', follow.differences(numbers, ENTRIES))


if __name__ == '__main__':
    sys.exit(Checkpoint.main())
