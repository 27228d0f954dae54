#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Usage: follow.py JSCAN [ENTRIES]

Follows files that systemd-journal-remote is writing: 50,000 entries, across rotations that it makes
itself (its hash tables fill up) and across renames and new files between two runs of it. Every
entry has to arrive exactly once and in order; how long they took is printed. Then what ends a
follower: signals, and readers that go away; and where it begins. Skipped where there is no
journal-remote. TAP.
"""

import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time

import harness

REMOTE = '/lib/systemd/systemd-journal-remote'
BOOT = '0123456789abcdef' * 2
PATIENCE = 60


def entry(number, unique, shift=0):
    """An entry in the export format, with so many values that no other has, some seconds ahead."""
    now = time.time_ns() // 1000 + shift * 1000000
    lines = [f'__REALTIME_TIMESTAMP={now}', f'__MONOTONIC_TIMESTAMP={number + 1}',
             f'_BOOT_ID={BOOT}', f'_MACHINE_ID={BOOT}', 'SYSLOG_IDENTIFIER=follow',
             f'PRIORITY={number % 8}', f'NUMBER={number}', f'SENT={now}', f'MESSAGE=entry {number}']
    lines += [f'UNIQUE_{i}={number}' for i in range(unique)]
    return ('\n'.join(lines) + '\n\n').encode()


class Reader(threading.Thread):
    """A follower that prints in the export format, and what has arrived so far."""

    def __init__(self, jscan, folder, *options, only=None):
        super().__init__()
        self.process = subprocess.Popen(
            [jscan, *(['-i', only] if only else ['-D', folder]), '-b', 'all', '-f', '-o', 'export',
             *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.numbers, self.delays, self.error = [], [], ''
        self.start()

    def run(self):
        sent = 0
        for line in self.process.stdout:
            if line.startswith(b'SENT='):
                sent = int(line[5:])
            elif line.startswith(b'NUMBER='):
                number = int(line[7:])
            elif line == b'\n':
                self.numbers.append(number)
                self.delays.append(time.time_ns() // 1000 - sent)

    def wait_for(self, count):
        """Waits until so many entries have arrived."""
        end = time.monotonic() + PATIENCE
        while len(self.numbers) < count and time.monotonic() < end:
            time.sleep(0.005)
        return len(self.numbers)

    def stop(self, how=signal.SIGTERM):
        """Ends it by a signal; its exit status."""
        self.process.send_signal(how)
        status = self.process.wait(PATIENCE)
        self.join()
        self.error = self.process.stderr.read().decode()
        return status


def write(path, numbers, unique, pause=0.0, shift=0):
    """Has journal-remote append entries to a file."""
    remote = subprocess.Popen([REMOTE, '--output', path, '-'], stdin=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    for number in numbers:
        remote.stdin.write(entry(number, unique, shift))
        if pause:
            remote.stdin.flush()
            time.sleep(pause)
    remote.stdin.close()
    return remote.wait(PATIENCE)


def rotate(folder, serial):
    """Gives the file that was written an archived file's name."""
    os.rename(os.path.join(folder, 'remote.journal'),
              os.path.join(folder, 'remote@%032x-%016x-%016x.journal' % (serial, serial, serial)))


def check(tap, right, name, *notes):
    """One test, with what was measured."""
    tap.point(right, name)
    for note in notes:
        if note:
            tap.note(note)


def differences(numbers, count):
    """What is wrong with the numbers that have arrived."""
    seen = set(numbers)
    lost = [n for n in range(count) if n not in seen]
    disorder = sum(a >= b for a, b in zip(numbers, numbers[1:]))
    return (f'{len(numbers)} of {count}: {len(lost)} lost {lost[:5]}, '
            f'{len(numbers) - len(seen)} repeated, {disorder} out of order')


def follow_writer(tap, jscan, folder, count):
    """All entries, once each and in order."""
    reader = Reader(jscan, folder, '--no-tail')
    half, step = count // 2, max(1, count // 20)
    began = time.monotonic()
    write(os.path.join(folder, 'remote.journal'), range(half), 16)
    native = len(os.listdir(folder)) - 1
    for serial, first in enumerate(range(half, count, step)):
        rotate(folder, serial)
        write(os.path.join(folder, 'remote.journal'), range(first, min(first + step, count)), 1)
    took = time.monotonic() - began
    reader.wait_for(count)
    time.sleep(0.3)
    status = reader.stop()
    check(tap, reader.numbers == list(range(count)), 'every entry arrives once and in order',
              differences(reader.numbers, count),
              f'{native} rotations by journal-remote, {serial + 1} by name, in {took:.1f} s',
              reader.error)
    check(tap, status == 0, 'a signal ends it with status 0', f'status {status}')


def measure(tap, jscan, folder, count):
    """How long single entries take from their writing to their reader."""
    before = time.monotonic()
    reader = Reader(jscan, folder, '-n', '0')
    time.sleep(0.5)
    write(os.path.join(folder, 'remote.journal'), range(count), 1, 0.01)
    reader.wait_for(count)
    usage = os.sysconf('SC_CLK_TCK')
    with open(f'/proc/{reader.process.pid}/stat', encoding='ascii') as file:
        fields = file.read().rsplit(')', 1)[1].split()
    cpu = (int(fields[11]) + int(fields[12])) / usage
    with open(f'/proc/{reader.process.pid}/status', encoding='ascii') as file:
        memory = re.search(r'VmRSS:\s+(\d+)', file.read()).group(1)
    took = time.monotonic() - before
    reader.stop(signal.SIGINT)
    delays = sorted(reader.delays)
    check(tap, reader.numbers == list(range(count)), 'new entries only, with -n 0',
              differences(reader.numbers, count))
    if delays:
        check(tap, delays[len(delays) // 2] < 1000000, 'they arrive soon after they are written',
                  f'median {delays[len(delays) // 2]} us, 99 % {delays[len(delays) * 99 // 100]} '
                  f'us, most {delays[-1]} us; {cpu:.2f} s of CPU in {took:.1f} s, {memory} kB')


def idle(tap, jscan, folder):
    """Nothing runs while nothing happens; a reader that goes away ends it at once."""
    process = subprocess.Popen([jscan, '-D', folder, '-b', 'all', '-f', '-n', '1', '-o', 'cat'],
                               stdout=subprocess.PIPE)
    select.select([process.stdout], [], [], PATIENCE)
    process.stdout.readline()
    time.sleep(0.2)
    with open(f'/proc/{process.pid}/stat', encoding='ascii') as file:
        before = file.read().rsplit(')', 1)[1].split()[11:13]
    time.sleep(1)
    with open(f'/proc/{process.pid}/stat', encoding='ascii') as file:
        after = file.read().rsplit(')', 1)[1].split()[11:13]
    check(tap, before == after, 'no time is used while nothing happens', f'{before} {after}')
    process.stdout.close()
    try:
        status = process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        status = 'none: it goes on'
    check(tap, status == 0, 'a reader that goes away ends it at once', f'status {status}')


def keep_cursor(tap, jscan, folder):
    """What -n 0 leaves as the cursor when nothing arrives: that of the last entry that matches."""
    options = ['-q', '-D', folder, '-b', 'all', '-n', '0', '--show-cursor', 'PRIORITY=3']
    want = subprocess.run([jscan, *options], stdout=subprocess.PIPE, check=True).stdout
    process = subprocess.Popen([jscan, '-f', *options, '-S', 'tomorrow', '-g', 'nothing'],
                               stdout=subprocess.PIPE)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    got = process.communicate(timeout=PATIENCE)[0]
    check(tap, got == want and got.startswith(b'-- cursor: '),
          'the cursor is that of the last entry while nothing arrives', f'{got} {want}')


def begin(tap, jscan, folder):
    """Where following begins, and what has no part in it."""
    path = os.path.join(folder, 'remote.journal')
    write(path, range(10), 1)
    keep_cursor(tap, jscan, folder)
    last = Reader(jscan, folder, '-b', '-n', '0')
    after = Reader(jscan, folder, '-S', '@%.6f' % (time.time() + 3600))
    cursor = Reader(jscan, folder, '-c', 't=%x' % ((int(time.time()) + 3600) * 1000000))
    named = Reader(jscan, folder, '-n', '0', '-p', 'debug', only=path)
    absent = Reader(jscan, folder, '-n', '0', '--show-cursor', 'NUMBER=10')
    time.sleep(0.5)
    for _ in range(20):  # events one by one, none of which is about the file
        with open(os.path.join(folder, 'x.journal'), 'ab') as file:
            file.write(b'x')
        time.sleep(0.01)
    write(path, range(10, 20), 1)
    write(path, range(20, 30), 1, shift=7200)
    time.sleep(0.5)
    for reader, first, name in ((last, 10, '-n 0 with matches begins at the end'),
                                (after, 20, '--since= begins there although it is not there yet'),
                                (cursor, 20, 'nor does a cursor that lies ahead show more'),
                                (named, 10, 'what happens to other files does no harm')):
        reader.wait_for(30 - first)
        status = reader.stop()
        check(tap, status == 0 and reader.numbers == list(range(first, 30)), name,
              f'status {status}: {reader.numbers}', reader.error)
    absent.wait_for(1)
    absent.stop()
    check(tap, absent.numbers == [10], 'the first entry that matches at all is not lost',
          f'{absent.numbers}')


def wait_for_first(tap, jscan, folder):
    """A folder without files: the first that comes is followed."""
    reader = Reader(jscan, folder)
    time.sleep(0.5)
    write(os.path.join(folder, 'remote.journal'), range(20), 1)
    reader.wait_for(20)
    reader.stop()
    check(tap, reader.numbers == list(range(20)), 'an empty folder waits for its first file',
              differences(reader.numbers, 20), reader.error)


def main():
    """See the top of the file."""
    if not os.access(REMOTE, os.X_OK):
        harness.skip_all('there is no systemd-journal-remote')
    jscan = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 50000
    tap = harness.Tap()
    with tempfile.TemporaryDirectory() as folder:
        follow_writer(tap, jscan, folder, count)
    with tempfile.TemporaryDirectory() as folder:
        measure(tap, jscan, folder, 300)
        idle(tap, jscan, folder)
    with tempfile.TemporaryDirectory() as folder:
        begin(tap, jscan, folder)
    with tempfile.TemporaryDirectory() as folder:
        wait_for_first(tap, jscan, folder)
    return tap.end()


if __name__ == '__main__':
    sys.exit(main())
