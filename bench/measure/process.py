# SPDX-License-Identifier: MIT
"""Runs a command once and tells what it took."""
import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

from measure.programs import ENVIRONMENT


def _read_bytes(pid):
    """Bytes that a process that has ended, and is not reaped, had read from the disk."""
    try:
        with open('/proc/%d/io' % pid, encoding='ascii') as f:
            return int(re.search(r'read_bytes: (\d+)', f.read()).group(1))
    except (OSError, AttributeError):
        return None


def _result(begin, p, first=None):
    """Waits for the end of a process: what it took."""
    os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOWAIT)
    seconds = time.perf_counter() - begin
    read = _read_bytes(p.pid)
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = os.waitstatus_to_exitcode(status)
    return {'seconds': seconds, 'first_seconds': first, 'status': p.returncode,
            'user': usage.ru_utime, 'system': usage.ru_stime,
            'peak_bytes': usage.ru_maxrss * 1024, 'major_faults': usage.ru_majflt,
            'disk_bytes': read if read is not None else usage.ru_inblock * 512}


def timed(command):
    """Runs a command with output to /dev/null."""
    with open(os.devnull, 'r+b') as null:
        begin = time.perf_counter()
        p = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, env=ENVIRONMENT)
        return _result(begin, p)


def timed_to_first(command):
    """Runs a command with output to a pipe: also tells when the first byte came. What it prints
    is read as fast as it comes, and forgotten."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=ENVIRONMENT) as p:
        first = None
        while True:
            select.select([p.stdout], [], [])
            piece = os.read(p.stdout.fileno(), 1 << 16)
            if not piece:
                break
            first = first or time.perf_counter() - begin
        return _result(begin, p, first)


def timed_into_cat(command):
    """Runs a command into a pipe that cat reads: seconds until both have ended."""
    with open(os.devnull, 'r+b') as null:
        begin = time.perf_counter()
        p = subprocess.Popen(command, stdin=null, stdout=subprocess.PIPE, stderr=null,
                             env=ENVIRONMENT)
        reader = subprocess.Popen(['cat'], stdin=p.stdout, stdout=null)
        p.stdout.close()
        result = _result(begin, p)
        reader.wait()
        result['seconds'] = time.perf_counter() - begin
        return result


def system_calls(command):
    """How many system calls a command makes, in all its threads, by name; None without strace."""
    if not shutil.which('strace'):
        return None
    with tempfile.NamedTemporaryFile() as report:
        r = subprocess.run(['strace', '-f', '-c', '-U', 'calls,name', '-o', report.name] + command,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, env=ENVIRONMENT, check=False)
        lines = report.read().decode().splitlines()
    if r.returncode != 0:
        return None
    calls = {}
    for words in (line.split() for line in lines):
        if len(words) == 2 and words[0].isdigit() and words[1] != 'total':
            calls[words[1]] = int(words[0])
    return calls


def statistics_of(command):
    """jscan's own account of a run."""
    r = subprocess.run(command + ['--stats=json'], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENVIRONMENT,
                       check=False)
    try:
        return json.loads(r.stderr.splitlines()[-1])
    except (ValueError, IndexError):
        return {}


class Competitor:
    """Another process that reads files from the disk, one after the other, again and again."""

    PROGRAM = '''
import os, sys
while True:
    for path in sys.argv[1:]:
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        while os.read(fd, 1 << 20):
            pass
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
'''

    def __init__(self, archive):
        self.archive, self.p = archive, None

    def __enter__(self):
        self.p = subprocess.Popen([shutil.which('python3') or 'python3', '-c', self.PROGRAM] +
                                  [str(path) for path in self.archive.files])
        time.sleep(0.3)
        return self

    def __exit__(self, *_):
        self.p.send_signal(signal.SIGTERM)
        self.p.wait()
