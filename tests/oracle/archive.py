#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares all that two programs print of one archive, in every output mode.

usage: archive.py [--modes LIST] [--option OPTION]... JSCAN JOURNALCTL ARCHIVE

Both outputs are read side by side and nothing is kept, so that it serves for archives of any size.
Text has to be the same byte for byte. Of JSON an entry's members have to be the same in whatever
order: journalctl's is random. For that an object is cut where members begin and the pieces are
sorted, which no two objects survive alike but by moving whole pieces of text.

Prints a line for each mode; exit status 1 if one differs. Not part of the tests that every change
runs: journalctl takes minutes for an archive of a gigabyte.
"""
import argparse
import os
import subprocess
import sys
import time

MODES = ['short', 'short-full', 'short-iso', 'short-iso-precise', 'short-precise',
         'short-monotonic', 'short-delta', 'short-unix', 'with-unit', 'verbose', 'export', 'json',
         'json-pretty', 'json-sse', 'json-seq', 'cat']
ENVIRONMENT = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'TZ': 'UTC',
               'LC_ALL': 'C.UTF-8', 'TERM': 'dumb'}
PIECE = 1 << 20
LINES_AT_A_TIME = 1000


def pieces(stream):
    """The bytes of a stream, in pieces of one size."""
    while True:
        piece = stream.read(PIECE)
        yield piece
        if not piece:
            return


def lines_of_objects(stream):
    """Objects of one line each, in a form without order."""
    while True:
        lines = stream.readlines(LINES_AT_A_TIME * 1000)
        yield [sorted((b',' + line.partition(b'{')[2][:-2]).split(b',"')) for line in lines]
        if not lines:
            return


def pretty_objects(stream):
    """Objects of a line for each value, in a form without order."""
    while True:
        objects, lines = [], []
        for line in stream:
            lines.append(line.rstrip(b',\n'))
            if line == b'}\n':
                objects.append(sorted(lines))
                lines = []
                if len(objects) == LINES_AT_A_TIME:
                    break
        if lines:
            objects.append(lines) # what is cut off has to be cut off in both
        yield objects
        if not objects:
            return


def form_of(mode):
    """How the output of a mode is taken apart."""
    if mode == 'json-pretty':
        return pretty_objects
    return lines_of_objects if mode.startswith('json') else pieces


def compare(programs, arguments, mode):
    """Runs both. The number of the first part that differs, or None; and how many there were."""
    running = [subprocess.Popen([program, *arguments, '-o', mode], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, env=ENVIRONMENT) for program in programs]
    streams = [form_of(mode)(process.stdout) for process in running]
    count = 0
    difference = None
    while difference is None:
        ours, theirs = next(streams[0]), next(streams[1])
        if ours != theirs:
            difference = count
        elif not ours:
            break
        count += 1
    for process in running:
        if difference is not None:
            process.kill()
        process.stdout.close()
    statuses = [process.wait() for process in running]
    if difference is None and statuses[0] != statuses[1]:
        difference = count
    return difference, count, statuses


def main():
    """See the top of the file."""
    parser = argparse.ArgumentParser()
    parser.add_argument('--modes', default=','.join(MODES))
    parser.add_argument('--option', action='append', default=[])
    parser.add_argument('jscan')
    parser.add_argument('journalctl')
    parser.add_argument('archive')
    options = parser.parse_args()
    arguments = ['-D', options.archive, '--no-pager', *options.option]
    failed = 0
    for mode in options.modes.split(','):
        began = time.monotonic()
        difference, count, statuses = compare([options.jscan, options.journalctl], arguments, mode)
        verdict = f'equal, {count} parts' if difference is None else f'part {difference} differs'
        if count == 0 and difference is None:
            verdict = 'nothing was printed'
        failed += difference is not None or count == 0
        print(f'{mode}: {verdict}; exit status {statuses[0]} and {statuses[1]}; '
              f'{time.monotonic() - began:.0f} s', flush=True)
    sys.exit(failed > 0)


if __name__ == '__main__':
    main()
