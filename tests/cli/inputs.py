#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of odd inputs: compressed journals, pipes, hostile names: inputs.py JSCAN SAMPLE"""
import gzip
import lzma
import os
import pty
import shutil
import socket
import subprocess
import sys
import zlib

import harness

# Command line tools that are tried where they are installed, and the ending of their files.
TOOLS = (('zstd', ['-q', '-f', '-k'], '.zst'), ('xz', ['-k', '-f'], '.xz'),
         ('gzip', ['-k', '-f'], '.gz'), ('lz4', ['-q', '-f', '-k', '-m'], '.lz4'))


class Inputs(harness.Suite):
    """The command, the sample and a scratch folder."""

    def __init__(self, jscan, sample, scratch):
        super().__init__(jscan, sample, scratch)
        self.journal = os.path.join(sample, 'system.journal')
        with open(self.journal, 'rb') as f:
            self.bytes = f.read()
        self.want = self.run('-i', self.journal, '-o', 'export').out

    def folder(self, name):
        path = os.path.join(self.scratch, name)
        os.mkdir(path)
        return path

    def write(self, path, data):
        with open(path, 'wb') as f:
            f.write(data)
        return path

    def test_packed(self):
        """Compressed files print what the plain ones do, however they are named."""
        want = self.run('-D', self.sample, '-o', 'export')
        packed = os.path.join(self.scratch, 'packed')
        shutil.copytree(self.sample, packed)
        names = []
        for at, (folder, _, files) in enumerate(sorted(os.walk(packed))):
            for name in sorted(n for n in files if '.journal' in n):
                path = os.path.join(folder, name)
                tool, options, ending = TOOLS[(len(names) + at) % len(TOOLS)]
                if shutil.which(tool):
                    subprocess.run([tool] + options + [path], check=True,
                                   stdout=subprocess.DEVNULL)
                    if os.path.exists(path + ending):
                        os.unlink(path)
                        names.append(path + ending)
        for method in ('uring', 'threads', 'sync'):
            r = self.run('-D', packed, '-o', 'export', '--io=' + method)
            self.point('a folder of compressed files prints the same, --io=%s' % method,
                       r.out == want.out and r.err == b'' and names, r)
        r = self.run('-D', packed, '-o', 'export', '--memory=4M', '-r', '-n', '7', '_UID=0')
        w = self.run('-D', self.sample, '-o', 'export', '-r', '-n', '7', '_UID=0')
        self.point('matches in compressed files', r.out == w.out and r.out, r)
        r = self.run('-D', packed, '--header')
        self.point('--header has the path of the compressed file',
                   names and all(('File path: %s\n' % n).encode() in r.out for n in names), r)
        r = self.run('-D', packed, '--disk-usage')
        w = self.run('-D', self.sample, '--disk-usage')
        self.point('--disk-usage counts what is on the disk', r.out != w.out and r.out, r)
        r = self.run('-D', packed, '--verify')
        self.point('--verify looks into them', r.status == 0 and r.err.count(b'PASS: ') ==
                   self.run('-D', self.sample, '--verify').err.count(b'PASS: '), r)

    def test_names(self):
        """Contents decide, not names; patterns and arguments take them too."""
        folder = self.folder('names')
        self.write(os.path.join(folder, 'one.bin'), gzip.compress(self.bytes))
        path = self.write(os.path.join(folder, 'two[.bin'), lzma.compress(self.bytes))
        self.write(os.path.join(folder, 'three.journal'), gzip.compress(self.bytes))
        for name, arguments in (('a pattern', ['-i', os.path.join(folder, 'one*')]),
                                ('an argument', [path]),
                                ('a wrong ending', ['-D', folder])):
            r = self.run('-o', 'export', *arguments)
            self.point('compressed file: ' + name, r.out == self.want and r.err == b'', r)
        halves = gzip.compress(self.bytes[:50000]) + gzip.compress(self.bytes[50000:])
        r = self.run('-o', 'export', self.write(os.path.join(folder, 'halves'), halves))
        self.point('streams one after the other', r.out == self.want and r.err == b'', r)
        other = self.write(os.path.join(folder, 'other.gz'), gzip.compress(b'x' * 1000))
        r = self.run(other)
        self.point('what is compressed and no journal is no journal', r.status == 1 and
                   b'File is neither a device node nor executable' in r.err, r)
        r = self.run('-i', other)
        self.point('nor is it with --file', r.status == 1 and
                   r.err == b'Failed to open files: Bad message\n', r)

    def test_greedy(self):
        """A stream that says that unpacking takes more memory than is allowed."""
        data = bytearray(lzma.compress(self.bytes))
        size = (data[12] + 1) * 4  # of the first block's header, with its checksum
        data[16] = 36  # a dictionary of 1 GiB
        data[12 + size - 4:12 + size] = zlib.crc32(data[12:12 + size - 4]).to_bytes(4, 'little')
        path = self.write(os.path.join(self.folder('greedy'), 'greedy'), data)
        for arguments in ([path], ['-i', path]):
            r = self.run('-o', 'export', *arguments)
            self.point('a stream that takes much memory', r.status == 1 and r.out == b'' and
                       r.err.decode().startswith('Journal file %s is unpacked up to offset 24 only:'
                                                 ' unpacking it takes more memory than is allowed'
                                                 % path), r)

    def test_damaged(self):
        """What can be unpacked is read, and what cannot is told."""
        folder = self.folder('damaged')
        data = gzip.compress(self.bytes)
        path = self.write(os.path.join(folder, 'cut'), data[:len(data) * 3 // 4])
        r = self.run('-o', 'export', path)
        self.point('a compressed file that is cut short', r.status == 0 and
                   0 < len(r.out) < len(self.want) and r.err.decode() ==
                   'Journal file %s is unpacked up to offset %d only: its compressed data is cut '
                   'short (No data available)\n' % (path, len(data) * 3 // 4), r)
        quiet = self.run('-q', '-o', 'export', path)
        self.point('-q says nothing about it', quiet.err == b'' and quiet.out == r.out, quiet)
        r = self.run('--strict', '-q', '-o', 'cat', path)
        self.point('--strict tells by the status', r.status == 3 and r.err == b'', r)
        path = self.write(os.path.join(folder, 'garbage'), data + b'garbage')
        r = self.run('-o', 'export', path)
        self.point('garbage behind it', r.out == self.want and r.err.decode() ==
                   'Journal file %s is unpacked up to offset %d only: what follows its compressed '
                   'data is not compressed (Invalid exchange)\n' % (path, len(data)), r)
        bomb = self.write(os.path.join(folder, 'bomb'),
                          gzip.compress(self.bytes + bytes(200 << 20)))
        r = self.run('-o', 'export', '--stats=json', bomb, '--unpack-max=1M')
        self.point('--unpack-max ends a bomb', r.out == self.want and
                   b'more than is allowed (File too large)' in r.err, r)
        r = self.run('-o', 'export', bomb)
        self.point('zeros take no room', r.out == self.want and r.err == b'', r)
        r = self.run('--unpack-max=x', bomb)
        self.point('--unpack-max is checked', r.status == 1 and
                   r.err == b"Failed to parse --unpack-max='x'.\n", r)
        r = self.run('-o', 'export', bomb, environment={'TMPDIR': '/nonexistent'})
        self.point('a temporary folder that is not there', r.out == self.want, r)

    def test_standard_input(self):
        """-i - with a file, a pipe, a socket, compressed or not; a terminal is refused."""
        folder = self.folder('stdin')
        packed = self.write(os.path.join(folder, 'packed'), gzip.compress(self.bytes))
        for name in (self.journal, packed):
            with open(name, 'rb') as f:
                r = self.run('-i', '-', '-o', 'export', stdin=f)
            self.point('standard input is a file', r.out == self.want, r)
            with subprocess.Popen(['cat', name], stdout=subprocess.PIPE) as p:
                r = self.run('-i', '-', '-o', 'export', stdin=p.stdout)
                p.stdout.close()
            self.point('standard input is a pipe', r.out == self.want and r.err == b'', r)
        with subprocess.Popen(['cat', packed], stdout=subprocess.PIPE) as p:
            r = self.run('-i', '-', '-o', 'export', '--unpack-max=1K', stdin=p.stdout)
            p.stdout.close()
        self.point('--unpack-max counts for pipes', r.status == 1 and r.err ==
                   b'Failed to open journal: File too large\n', r)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            ours.setblocking(False)
            ours.send(gzip.compress(self.bytes))
            ours.shutdown(socket.SHUT_WR)
            r = self.run('-i', '-', '-o', 'export', stdin=theirs)
        self.point('standard input is a socket', r.out == self.want, r)
        r = self.run('-i', '-')
        self.point('standard input is a device', r.status == 1 and r.err ==
                   b'Failed to open journal: File descriptor in bad state\n', r)
        try:
            master, slave = pty.openpty()
        except OSError:
            return
        r = self.run('-i', '-', stdin=slave)
        os.close(slave)
        os.close(master)
        self.point('standard input is a terminal', r.status == 1 and r.err ==
                   b'Standard input is a terminal, not a journal.\n', r)

    def test_hostile_names(self):
        """Names that are hard to bear, as files, in patterns and in folders."""
        folder = self.folder('hostile')
        for name in ('new\nline.journal', '-q.journal', '\x1b[31m.journal', '\udcff\udcfe.journal',
                     ' .journal', '%s%n.journal', 'a' * 247 + '.journal'):
            path = os.path.join(folder, name)
            shutil.copy(self.journal, path)
            r = self.run('-o', 'export', path)
            self.point('argument %r' % name[:12], r.out == self.want and r.err == b'', r)
            os.chdir(folder)
            r = self.run('-o', 'export', '--', name)
            self.point('relative argument %r' % name[:12], r.out == self.want, r)
            os.unlink(path)
        deep = folder
        while len(deep) + 200 < 4000:
            deep = os.path.join(deep, 'd' * 190)
        os.makedirs(deep, exist_ok=True)
        path = os.path.join(deep, 'e' * (4094 - len(deep)))
        self.tap.point(len(path) == 4095, 'a path of 4095 bytes was made')
        shutil.copy(self.journal, path)
        r = self.run('-o', 'export', '-i', path)
        self.point('a path of 4095 bytes', r.out == self.want and r.err == b'', r)
        r = self.run('-o', 'export', '-D', deep)
        self.point('a folder whose path is nearly as long', r.status in (0, 1), r)
        r = self.run('-i', path + 'x')
        self.point('a path of 4096 bytes', r.status == 1 and r.err ==
                   b'Failed to open files: File name too long\n', r)
        os.chdir('/')
        shutil.rmtree(folder)

    def test_no_files(self):
        """What is no regular file is neither read nor waited for."""
        folder = self.folder('nofiles')
        fifo = os.path.join(folder, 'fifo.journal')
        loop = os.path.join(folder, 'loop.journal')
        name = os.path.join(folder, 'socket.journal')
        os.mkfifo(fifo)
        os.symlink(loop, loop)
        os.mkdir(os.path.join(folder, 'directory.journal'))
        os.symlink(folder, os.path.join(folder, '0123456789abcdef0123456789abcdef'))
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(name)
        for path, error in ((fifo, 'File descriptor in bad state'),
                            (loop, 'Too many levels of symbolic links'),
                            (name, 'No such device or address'),
                            ('/dev/null', 'File descriptor in bad state'),
                            (folder, 'Is a directory'),
                            (os.path.join(folder, 'none'), 'No such file or directory')):
            r = self.run('-i', path, timeout=20)
            self.point('--file with %s' % os.path.basename(path), r.status == 1 and
                       r.err.decode() == 'Failed to open files: %s\n' % error, r)
        shutil.copy(self.journal, os.path.join(folder, 'good.journal'))
        r = self.run('-D', folder, '-o', 'export', timeout=20)
        self.point('in a folder they do not matter', r.out == self.want, r)


if __name__ == '__main__':
    sys.exit(Inputs.main())
