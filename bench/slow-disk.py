#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times index queries where the disk grants only so many reads a second.

  slow-disk.py [--iops N] [--rounds N] [--queries LIST] JSCAN ARCHIVE [JOURNALCTL...]

Needs root, and the kernel's throttling of block devices: blkio.throttle.read_iops_device of cgroup
v1, or io.max of v2. Programs run in a group of their own, made for this and removed at the end,
with the page cache dropped before each run. Where the machine has neither, or the limit shows no
effect (the archive is on no block device, or its reads are not counted), it says so and ends with
77.
"""
import argparse
import os
import statistics
import subprocess
import sys
import time

import query

SKIPPED = 77
UNIT = 'nginx.service'


def skip(reason):
    """Nothing can be measured here."""
    print('slow-disk: skipped: ' + reason)
    sys.exit(SKIPPED)


def device_of(path):
    """MAJOR:MINOR of the whole disk that a folder is on."""
    number = os.stat(path).st_dev
    name = '%d:%d' % (os.major(number), os.minor(number))
    block = os.path.realpath('/sys/dev/block/' + name)
    if not os.path.exists(block):
        skip('%s is on no block device (%s)' % (path, name))
    if os.path.exists(os.path.join(block, 'partition')):
        with open(os.path.join(os.path.dirname(block), 'dev'), encoding='ascii') as f:
            name = f.read().strip()
    return name


class Group:
    """A control group whose reads are limited."""

    def __init__(self, device, iops):
        v1, v2 = '/sys/fs/cgroup/blkio', '/sys/fs/cgroup'
        self.path = None
        if os.path.exists(v1 + '/blkio.throttle.read_iops_device'):
            base, knob, text = v1, 'blkio.throttle.read_iops_device', '%s %d' % (device, iops)
        elif 'io' in self.read(v2 + '/cgroup.subtree_control').split():
            base, knob, text = v2, 'io.max', '%s riops=%d' % (device, iops)
        else:
            skip('neither blkio.throttle.read_iops_device (cgroup v1) nor io.max (v2)')
        path = '%s/slow-disk-%d' % (base, os.getpid())
        try:
            os.mkdir(path)
            self.path = path
            with open(os.path.join(path, knob), 'w', encoding='ascii') as f:
                f.write(text)
        except OSError as e:
            self.remove()
            skip('%s: %s' % (os.path.join(path, knob), e.strerror))

    @staticmethod
    def read(path):
        """A file's text, or none."""
        try:
            with open(path, encoding='ascii') as f:
                return f.read()
        except OSError:
            return ''

    def enter(self):
        """Moves the calling process in."""
        with open(os.path.join(self.path, 'cgroup.procs'), 'w', encoding='ascii') as f:
            f.write('%d' % os.getpid())

    def remove(self):
        """Removes it; its processes have ended."""
        if self.path:
            os.rmdir(self.path)


def seconds(command, group, eviction):
    """One run from a cold cache, the program itself being loaded."""
    eviction.evict(command[0])
    with open(os.devnull, 'r+b') as null:
        begin = time.perf_counter()
        subprocess.run(command, stdin=null, stdout=null, stderr=null, env=query.ENVIRONMENT,
                       check=False, preexec_fn=group.enter if group else None)
        return time.perf_counter() - begin


def check_limit(o, group, eviction):
    """Reads single blocks of some file, a few times as many as are granted in a second."""
    path = max(eviction.files, key=os.path.getsize)
    reader = ('import os\n'
              'fd = os.open(%r, os.O_RDONLY)\n'
              'os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)\n'
              'for i in range(%d): os.pread(fd, 1, i * 8192)\n' % (str(path), o.iops))
    taken = seconds([sys.executable, '-c', reader], group, eviction)
    if taken < 0.5:
        group.remove()
        skip('the limit shows no effect: %d reads took %.2f s' % (o.iops, taken))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--iops', type=int, default=200)
    p.add_argument('--rounds', type=int, default=3)
    p.add_argument('--queries', default='status,unit-boot,tail,minute')
    p.add_argument('--unit', default=UNIT)
    p.add_argument('jscan')
    p.add_argument('archive')
    p.add_argument('journalctl', nargs='*')
    o = p.parse_args()
    if os.geteuid() != 0:
        skip('only root may make a control group')
    source = ['-D', o.archive, '-q', '--no-pager']
    eviction = query.Eviction('auto', o.archive)
    queries = query.make_queries(o.jscan, source, o.unit)
    group = Group(device_of(o.archive), o.iops)
    try:
        check_limit(o, group, eviction)
        print('| query, %d reads a second | %s |' % (o.iops, ' | '.join([o.jscan] + o.journalctl)))
        print('|---|%s' % ('---|' * (1 + len(o.journalctl))))
        for name in o.queries.split(','):
            commands = [[o.jscan] + source + queries[name]] + [
                [program] + source + query.theirs_of(name, queries[name], o.unit)
                for program in o.journalctl]
            taken = [[] for _ in commands]
            for _ in range(o.rounds):
                for times, command in zip(taken, commands):
                    times.append(seconds(command, group, eviction))
            print('| %s | %s |' % (name, ' | '.join('%.2f s' % statistics.median(times)
                                                    for times in taken)), flush=True)
    finally:
        if os.path.isdir(group.path):
            group.remove()
    return 0


if __name__ == '__main__':
    sys.exit(main())
