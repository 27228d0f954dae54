#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of --sink=: sinks.py JSCAN SAMPLE MODULE

One pass, many outputs: each must be what a pass of its own prints. MODULE is the example of a sink
in a shared object.
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

import harness

MODES = ('short', 'short-iso', 'verbose', 'export', 'json', 'json-stable', 'cat', 'with-unit')
PLAIN = re.compile(rb'[A-Za-z0-9:_@.-]')


class Sinks:
    """The command, the sample and a scratch folder."""

    def __init__(self, jscan, sample, module, scratch):
        self.tap = harness.Tap()
        self.jscan = jscan
        self.sample = sample
        self.module = module
        self.scratch = scratch

    def run(self, *arguments, **more):
        return harness.run([self.jscan, '-D', self.sample] + list(arguments), **more)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def content(self, name):
        """What a file holds, unpacked; None if it is not there."""
        path = self.path(name)
        if not os.path.exists(path):
            return None
        tool = {'.zst': ['zstd', '-dcq'], '.lz4': ['lz4', '-dcq']}.get(os.path.splitext(name)[1])
        if tool:
            return subprocess.run(tool + [path], capture_output=True, check=False).stdout
        with open(path, 'rb') as f:
            return f.read()

    def point(self, name, good, r):
        self.tap.point(good, name, 'status %s\n%s\n%s' % (
            r.status, r.out[-500:].decode(errors='replace'),
            r.err[-1000:].decode(errors='replace')))

    def test_modes(self):
        """All modes at once, on one thread and several, forward and backward."""
        for options in ([], ['-r'], ['--jobs=1'], ['--io=sync'], ['--utc', '-a'], ['-q'], ['-n5'],
                        ['-g', 'e'], ['_UID=0']):
            sinks = ['--sink=%s:%s' % (m, self.path(m)) for m in MODES]
            r = self.run(*sinks, *options)
            self.point('%s: nothing is printed' % options, r.status == 0 and not r.out, r)
            for mode in MODES:
                want = self.run('-o', mode, *options)
                self.point('%s: %s is what it prints alone' % (options, mode),
                           self.content(mode) == want.out, want)

    def test_places(self):
        """Compressed files, descriptors, standard output."""
        export = self.run('-o', 'export').out
        short = self.run().out
        places = [self.path('a.zst')]
        r = self.run('--sink=export:' + places[0], '--sink=export,compress=none:' +
                     self.path('b.zst'), '--sink=export,compress=zstd,level=9:' + self.path('c'))
        self.point('a file is compressed if it is called so', r.status == 0 and
                   self.content('a.zst') == export, r)
        with open(self.path('b.zst'), 'rb') as f:
            self.point('compress=none keeps it as it is', f.read() == export, r)
        os.rename(self.path('c'), self.path('c.zst'))
        self.point('compress=zstd compresses whatever the name', self.content('c.zst') == export, r)
        r = self.run('--sink=short:-')
        self.point('- is standard output', r.status == 0 and r.out == short, r)
        r = self.run('-o', 'short', '--sink=export:' + self.path('d'))
        self.point('-o prints beside sinks', r.out == short and self.content('d') == export, r)
        with open(self.path('e'), 'wb') as f:
            sink = '--sink=export:fd:%d' % f.fileno()
            done = subprocess.run([self.jscan, '-D', self.sample, sink],
                                  pass_fds=[f.fileno()], check=False)
        self.tap.point(done.returncode == 0 and self.content('e') == export, 'a descriptor')

    def test_fields(self):
        """Each sink has fields of its own."""
        r = self.run('--sink=json,fields=MESSAGE:' + self.path('one'),
                     '--sink=json,fields=_PID+PRIORITY:' + self.path('two'),
                     '--sink=json:' + self.path('three'), '--output-fields=_UID')
        for name, fields in (('one', 'MESSAGE'), ('two', '_PID,PRIORITY'), ('three', '_UID')):
            want = self.run('-o', 'json', '--output-fields=' + fields)
            self.point('fields ' + fields, r.status == 0 and self.content(name) == want.out, r)

    def parts(self, folder):
        """The files of a folder, unpacked, by name."""
        names = sorted(os.path.basename(p) for p in glob.glob(self.path(folder) + '/*'))
        return {n: self.content(os.path.join(folder, n)) for n in names}

    def test_split(self):
        """Every entry goes to one file, in order, whatever the number of open ones."""
        entries = [json.loads(line) for line in self.run('-o', 'json-stable').out.splitlines()]
        keys = {'unit': lambda e: e['fields'].get('_SYSTEMD_UNIT', [{}])[0].get('text'),
                'boot': lambda e: e['boot_id'],
                'host': lambda e: e['fields'].get('_HOSTNAME', [{}])[0].get('text')}
        for key, value_of in keys.items():
            want = {}
            for entry in entries:
                value = value_of(entry)
                name = ''.join(c if PLAIN.match(c.encode()) else
                               ''.join('\\x%02x' % b for b in c.encode())
                               for c in value) if value else 'none'
                want.setdefault(name + '.json', []).append(entry)
            for files in ('1', '2', '64'):
                for jobs in ('1', '4'):
                    folder = 'split-%s-%s-%s' % (key, files, jobs)
                    r = self.run('--jobs=' + jobs, '--sink=split,by=%s,mode=json-stable,files=%s:%s'
                                 % (key, files, self.path(folder)))
                    got = {name: [json.loads(line) for line in text.splitlines()]
                           for name, text in self.parts(folder).items()}
                    self.point('%s by %s' % (key, folder), r.status == 0 and got == want, r)
        r = self.run('--sink=split,compress=zstd,mode=export:' + self.path('packed'))
        plain = self.run('--sink=split,mode=export:' + self.path('plain'))
        packed = {name[:-4]: text for name, text in self.parts('packed').items()}
        self.point('compressed parts hold the same', r.status == 0 and
                   packed == self.parts('plain'), plain)

    def test_module(self):
        """A sink in a shared object, beside others."""
        argument = self.path('out.csv')
        for jobs in ('1', '3'):
            r = self.run('--jobs=' + jobs, '--sink=%s:%s' % (self.module, argument),
                         '--sink=cat:' + self.path('cat'))
            lines = self.content('out.csv').split(b'\r\n')
            self.point('the example writes a line for each entry', r.status == 0 and
                       lines.pop() == b'' and
                       len(lines) == self.run('-o', 'export').out.count(b'__CURSOR='), r)
            self.point('of time, priority and message',
                       all(re.match(rb'\d+,"\d?",".*"\Z', line, re.S) for line in lines), r)
        r = self.run('--sink=' + self.module)
        self.point('it refuses with its reason', r.status == 1 and
                   r.err.endswith(b"': a file is needed\n"), r)
        r = self.run('--sink=./no-such-sink.so')
        self.point('there is none', r.status == 1 and b'cannot open shared object' in r.err, r)
        r = self.run('--sink=%s:%s' % (self.module, '/dev/full'))
        self.point('it fails midway', r.status == 1 and
                   r.err.endswith(b"/dev/full' failed: No space left on device\n"), r)

    def test_nothing(self):
        """No entry makes an empty file, and a whole frame."""
        for options in (['-n0'], ['_PID=no'], ['-S', '2100-01-01']):
            for name in ('empty', 'empty.zst'):
                if os.path.exists(self.path(name)):
                    os.unlink(self.path(name))
            r = self.run('--sink=export:' + self.path('empty'), '--sink=json:' +
                         self.path('empty.zst'), *options)
            size = os.path.getsize(self.path('empty.zst'))
            self.point('%s makes empty outputs' % options, not r.out and size > 0 and
                       self.content('empty') == self.content('empty.zst') == b'', r)

    def test_refused(self):
        """What is wrong is said, and destroys nothing."""
        for text in ('', 'short', 'short:', 'shirt:x', 'split', 'split:', 'short,by=unit:x',
                     'split,by=week:x', 'split,files=0:x', 'short,level=3:x',
                     'export,level=20:x.zst',
                     'json,fields=:x', 'json,fields=A++B:x', 'json,compress=xz:x', 'short,x:y',
                     'split,mode=short-delta:x', './x.so,compress=zstd', ':x'):
            r = self.run('--sink=' + text, cwd=self.scratch)
            self.point('%r is refused' % text, r.status == 1 and
                       r.err == b"Failed to parse --sink='%s'.\n" % text.encode(), r)
        self.tap.point(not os.path.exists(self.path('x')), 'nothing was made')
        journal = self.path('copy.journal')
        with open(os.path.join(self.sample, 'system.journal'), 'rb') as f, open(journal, 'wb') as g:
            g.write(f.read())
        r = self.run('--sink=export:' + journal)
        with open(os.path.join(self.sample, 'system.journal'), 'rb') as f:
            self.point('a journal is not overwritten', r.status == 1 and
                       r.err.endswith(b'it is a journal\n') and
                       self.content('copy.journal') == f.read(), r)
        r = self.run('--sink=export:' + self.path('twice'), '--sink=json:' + self.path('twice'))
        self.point('two sinks in one file', r.status == 1 and
                   r.err.endswith(b'another one writes there\n'), r)
        for text, reason in (('export:/nonexistent/x', b'No such file or directory'),
                             ('split:/dev/null', b'Not a directory'),
                             ('export:fd:999', b'Bad file descriptor')):
            r = self.run('--sink=' + text)
            self.point('%s says why' % text, r.status == 1 and r.err ==
                       b"Failed to open sink '%s': %s\n" % (text.encode(), reason), r)
        r = self.run('--sink=export:/dev/full', '--sink=short:' + self.path('beside'))
        self.point('a full disk', r.status == 1 and r.err ==
                   b"Sink 'export:/dev/full' failed: No space left on device\n", r)
        r = self.run('--sink=short:-', '-o', 'cat')
        self.point('standard output twice', r.status == 1 and not r.out, r)
        r = self.run('--sink=short:-', '--list-boots')
        self.point('sinks are for entries', r.status == 1 and
                   r.err == b'--sink= is for entries only.\n', r)

    def test_gone(self):
        """A reader that goes away is told, not died of."""
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([self.jscan, '-D', self.sample, '--sink=export:fd:%d' % write],
                              pass_fds=[write], capture_output=True, check=False,
                              preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        os.close(write)
        self.tap.point(done.returncode == 1 and done.stderr.endswith(b'failed: Broken pipe\n'),
                       'a reader that has gone', str(done))


def main():
    jscan, sample, module = map(os.path.abspath, sys.argv[1:4])
    with tempfile.TemporaryDirectory() as scratch:
        sinks = Sinks(jscan, sample, module, os.path.realpath(scratch))
        for name in sorted(dir(sinks)):
            if name.startswith('test_'):
                getattr(sinks, name)()
    return sinks.tap.end()


if __name__ == '__main__':
    sys.exit(main())
