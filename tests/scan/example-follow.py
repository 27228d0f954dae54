#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the example of a follower: example-follow.py PROGRAM DIRECTORY

A file turns up while nobody follows, with numbers below those that were read of its sequence. Each
run must print what is new, and nothing else.
"""
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 30
LATER = ('system.journal',)


def follow(program, folder, checkpoint, least):
    """Ends a follower once it has printed so many lines and then nothing for a while."""
    with subprocess.Popen([program, folder, checkpoint], stdout=subprocess.PIPE) as process:
        out, end = b'', time.monotonic() + PATIENCE
        while time.monotonic() < end:
            ready, _, _ = select.select([process.stdout], [], [], 0.5)
            if ready:
                out += os.read(process.stdout.fileno(), 65536)
            elif out.count(b'\n') >= least:
                break
        process.send_signal(signal.SIGTERM)
        out += process.stdout.read()
        if process.wait(PATIENCE) != 0:
            sys.exit('it ended with %d' % process.returncode)
    return out.decode().splitlines()


def main():
    """See the top of the file."""
    program, sample = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as keep:
        checkpoint = os.path.join(keep, 'checkpoint')
        for name in os.listdir(sample):
            if name not in LATER:
                shutil.copy(os.path.join(sample, name), folder)
        first = follow(program, folder, checkpoint, 30)
        again = follow(program, folder, checkpoint, 0)
        for name in LATER:
            shutil.copy(os.path.join(sample, name), folder)
        later = follow(program, folder, checkpoint, 10)
        nothing = follow(program, folder, checkpoint, 0)
    with tempfile.TemporaryDirectory() as keep:
        whole = follow(program, sample, os.path.join(keep, 'checkpoint'), 40)
    print(len(first), len(again), len(later), len(nothing), len(whole))
    return 0 if (first and later and not again and not nothing and
                 sorted(first + later) == sorted(whole)) else 1


if __name__ == '__main__':
    sys.exit(main())
