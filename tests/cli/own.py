#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of what jscan has and journalctl has not: own.py JSCAN SAMPLE"""
import fcntl
import json
import locale
import os
import pty
import re
import select
import shutil
import signal
import stat
import struct
import subprocess
import sys
import termios
import time

import harness

COUNTERS = {'files', 'files_failed', 'files_pruned', 'entries', 'entries_tested', 'duplicates',
            'bytes_read', 'reads', 'block_hits', 'block_misses', 'blocks_evicted', 'bytes_written',
            'problems', 'memory_peak_bytes', 'heap_steps', 'fold_steps',
            'files_direct', 'files_not_direct', 'process_peak_bytes',
            'elapsed_usec', 'io_method'}
MANUAL = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'docs', 'jscan.1')
CACHES = ('keep', 'drop', 'direct')
METHODS = ('uring', 'threads', 'sync')


def open_terminal():
    """A terminal's two ends; None twice where there is no /dev/pts, as in a bare chroot."""
    try:
        return pty.openpty()
    except OSError:
        return None, None


class Own(harness.Suite):
    """The command, the sample and a scratch folder."""

    def test_log_level(self):
        """The lines on standard error that SYSTEMD_LOG_LEVEL wants, and one on standard output."""
        passes, empty = b'PASS: ', os.path.join(self.scratch, 'empty-for-levels')
        os.mkdir(empty)
        for level, shown in (('err', False), ('4', False), ('info', True), ('debug', True),
                             ('info,console:err', False), ('journal:err', True),
                             ('bogus', True)):
            r = self.run('-D', self.sample, '--verify', environment={'SYSTEMD_LOG_LEVEL': level})
            self.point('--verify at the level ' + level, r.status == 0 and
                       (passes in r.err) == shown and
                       (b"Failed to parse log level 'bogus', ignoring" in r.err) ==
                       (level == 'bogus'), r)
        r = self.run('-D', empty, environment={'SYSTEMD_LOG_LEVEL': 'warning'})
        self.point('nothing was found is a notice', r.err == b'', r)
        r = self.run('--frosting', environment={'SYSTEMD_LOG_LEVEL': 'err'})
        self.point('what is wrong is an error', b'unrecognized option' in r.err, r)
        r = self.run('--frosting', environment={'SYSTEMD_LOG_TARGET': 'null'})
        self.point('no target, no line', r.err == b'' and r.status == 1, r)
        r = self.run('--frosting', environment={'SYSTEMD_COLORS': '1', 'SYSTEMD_LOG_COLOR': '0'})
        self.point('a line without colours', b'\033' not in r.err and
                   b'unrecognized' in r.err, r)
        try:  # where there is such a locale
            locale.setlocale(locale.LC_NUMERIC, 'de_DE.UTF-8')
        except locale.Error:
            pass
        sign = locale.localeconv()['decimal_point'].encode()
        locale.setlocale(locale.LC_NUMERIC, 'C')
        r = self.run('-D', self.sample, '--header', environment={'LC_ALL': 'de_DE.UTF-8'})
        self.point('how full a table is has the decimal sign of the locale', re.search(
            rb'hash table fill: [0-9]+' + re.escape(sign) + rb'[0-9]%', r.out), r)
        r = self.run('--root=', '-D', self.sample, '-n', '1')
        self.point('no root is none', r.status == 0 and r.out.count(b'\n') == 1, r)
        r = self.run('-D', self.sample, '--cursor-file', self.sample)
        self.point('a cursor file that is a folder cannot be read', r.status == 1 and
                   b'Failed to read cursor file ' in r.err, r)
        r = self.run('-D', self.sample, '-f', '--invocation=' + '1' * 32)
        self.point('an invocation that is not there is not waited for', r.status == 1 and
                   r.err.startswith(b'No journal entry found for the invocation ('), r)
        r = self.run('-D', self.sample, '-n', '1', '--cursor-file=')
        self.point('a cursor file without a name cannot be written', r.status == 1 and
                   r.err == b'Failed to write new cursor to : Invalid argument\n', r)
        r = self.run('-S', '\n1\r\n\n2\n')
        self.point('a message has no empty lines', r.err ==
                   b'Failed to parse timestamp: \n1\n2\n', r)
        ends = [int(self.run('-D', self.sample, '-o', 'short-unix', *end).out.split(b'.')[0])
                for end in (('-n', '+1'), ('-n', '1'))]
        begin, end = (time.strftime('%a %Y-%m-%d %H:%M:%S UTC', time.gmtime(t)) for t in ends)
        spans = b'-- Journal begins at %s, ends at %s. --\n' % (begin.encode(), end.encode())
        for words, line in ((('-n', '1'), spans), (('-n', '1', '-r', '--utc'), spans),
                            (('-n', '1', '-q'), b''), (('-n', '1', '-o', 'cat'), b''),
                            (('-n', '0'), b''), (('-D', empty), spans)):
            plain = self.run('-D', self.sample, *words)
            r = self.run('-D', self.sample, *words, environment={'SYSTEMD_LOG_LEVEL': 'debug'})
            self.point('the span with ' + ' '.join(words[:4]).replace(self.scratch, ''),
                       r.out == line + plain.out, r)

    def test_stats(self):
        """--stats goes to standard error, in both forms, and is right."""
        plain = self.run('-D', self.sample, '-o', 'export')
        r = self.run('-D', self.sample, '-o', 'export', '--stats=json')
        lines = r.err.decode().splitlines()
        stats = json.loads(lines[0]) if len(lines) == 1 else {}
        self.point('--stats=json prints one object on one line', len(lines) == 1, r)
        self.point('--stats=json has all counters', set(stats) == COUNTERS, r)
        self.point('--stats leaves standard output alone', r.out == plain.out, r)
        entries = plain.out.count(b'__CURSOR=')
        self.point('--stats=json counts the entries', stats.get('entries') == entries, r)
        self.point('--stats=json counts the files', stats.get('files') == 5, r)
        self.point('--stats=json counts the output', stats.get('bytes_written') == len(r.out), r)
        r = self.run('-D', self.sample, '-o', 'cat', '--stats', '-n', '1')
        self.point('--stats begins with a summary',
                   r.err.startswith(b'1 entries from 5 files, '), r)
        r = self.run('-D', self.sample, '--stats=xml')
        self.point('--stats refuses other forms', r.status == 1 and
                   r.err == b"Failed to parse --stats='xml'.\n", r)

    def test_trace(self):
        """--trace records what is read and used, and changes nothing else."""
        plain = self.run('-D', self.sample, '-o', 'export')
        path = os.path.join(self.scratch, 'trace')
        r = self.run('-D', self.sample, '-o', 'export', '--trace', path)
        self.point('--trace leaves standard output alone', r.out == plain.out and not r.err, r)
        with open(path, encoding='utf-8') as f:
            lines = f.read().splitlines()
        self.point('--trace begins with its version', lines[0] == 'jscan trace 1', r)
        events = [line.split(' ', 4) for line in lines[1:]]
        opened = {number: int(size, 16) for kind, number, _, size, *_ in events if kind == 'O'}
        self.point('--trace names the files', len(opened) == 5, r)
        inside = all(int(offset, 16) + int(size, 16) <= (opened[number] + 4095) // 4096 * 4096
                     for _, number, offset, size, *_ in events)
        self.point('--trace has offsets and sizes within the files', inside, r)
        kinds = {kind for kind, *_ in events}
        self.point('--trace has wants, reads, uses and ends', kinds >= set('OWRHC') and
                   kinds <= set('OWXRHEC'), r)
        r = self.run('-D', self.sample, '--trace=/nowhere/trace')
        self.point('--trace says that its file cannot be opened', r.status == 1 and
                   r.err == b'Failed to open /nowhere/trace: No such file or directory\n', r)

    def test_methods(self):
        """All ways of reading print the same."""
        want = self.run('-D', self.sample, '-o', 'export')
        for options in [['--io=' + m] for m in METHODS] + [['--memory=4M']] + \
                [['--cache=' + c, '--io=' + m] for c in CACHES for m in METHODS] + \
                [['--jobs=%d' % n] for n in (1, 2, 4, 1000)]:
            r = self.run('-D', self.sample, '-o', 'export', *options)
            self.point('%s prints the same' % ' '.join(options),
                       r.out == want.out and r.status == 0, r)
        for method in METHODS:
            r = self.run('-D', self.sample, '-qn0', '--stats=json', '--io=' + method)
            good = json.loads(r.err)['io_method'] in ('', method)
            self.point('--io=%s is what is used' % method, good, r)
        for match in (['PRIORITY=6'], ['PRIORITY=3', '+', '_UID=1000'], ['_UID=0', 'PRIORITY=6']):
            index = self.run('-D', self.sample, '-o', 'export', *match)
            scan = self.run('-D', self.sample, '-o', 'export', '--plan=scan', *match)
            self.point('--plan=scan finds the same for %s' % ' '.join(match),
                       index.out == scan.out and index.out != b'', scan)

    def test_values(self):
        """Values that make no sense are refused before anything is opened."""
        for option in ('--io=mmap', '--limit-rate=x',
                       '--cache=x', '--plan=x', '--jobs=0', '--jobs=x', '--memory=x',
                       '--memory='):
            name, value = option.split('=')
            r = self.run('-D', '/nonexistent', option)
            self.point('%s is refused' % option, r.status == 1 and r.err.decode() ==
                       "Failed to parse %s='%s'.\n" % (name, value), r)
        r = self.run('--memory=1M')
        self.point('too little memory is refused', r.status == 1 and
                   r.err == b'--memory= must be at least 4M.\n', r)
        r = self.run('--limit-rate=4095')
        self.point('too low a rate is refused', r.status == 1 and
                   r.err == b'--limit-rate= must be at least 4K.\n', r)
        r = self.run('--synchronize-on-exit=perhaps')
        self.point('--synchronize-on-exit takes a truth value', r.status == 1 and r.err ==
                   b"Failed to parse boolean argument to '--synchronize-on-exit': perhaps\n", r)
        r = self.run('--image=x')
        self.point('what is refused is said, and what to use', r.status == 1 and r.err ==
                   b"jscan: option '--image' needs a loop device: mount the image, and use "
                   b"--root=\n", r)
        r = self.run('--me', '--version')
        self.point('--version', r.status == 0 and r.out.startswith(b'jscan '), r)
        r = self.run('--help')
        self.point('--help', r.status == 0 and b'--output=MODE' in r.out and r.err == b'', r)
        names = set(re.findall(r'^ .{4}--([a-z-]+)', r.out.decode(), re.MULTILINE))
        with open(MANUAL, encoding='utf-8') as f:
            manual = set(re.findall(r'\.It .*Fl -([a-z-]+)', f.read()))
        r.err = ' '.join(sorted(names ^ manual)).encode()
        self.point('the manual has the options that --help has', names == manual and names, r)

    def test_status(self):
        """--status is a choice of journalctl's options."""
        r = self.run('-D', self.sample, '--status=ssh')
        want = self.run('-D', self.sample, '-u', 'ssh', '-b', '-n', '10', '-q')
        self.point('--status prints the last lines of a unit', r.out == want.out and r.out and
                   r.status == 0 and r.err == b'', r)
        r = self.run('-D', self.sample, '--status=ssh', '-n2', '-o', 'cat')
        want = self.run('-D', self.sample, '-u', 'ssh', '-b', '-n', '2', '-o', 'cat')
        self.point('--status takes -n and -o', r.out == want.out and r.out, r)
        r = self.run('-D', self.sample, '--status=nothing')
        self.point('--status of a unit without entries', r.out == b'' and r.status == 0, r)

    def test_text(self):
        """--text=lenient shows what is not printable."""
        strict = self.run('-D', self.sample, '-o', 'verbose')
        self.point('there is a blob', b'B blob data]' in strict.out, strict)
        r = self.run('-D', self.sample, '-o', 'verbose', '--text=strict')
        self.point('--text=strict is the default', r.out == strict.out, r)
        for mode in ('short', 'verbose'):
            strict = self.run('-D', self.sample, '-o', mode).out
            r = self.run('-D', self.sample, '-o', mode, '--text=lenient')
            kept = [line for line in strict.split(b'\n') if b'blob data]' not in line]
            found = iter(r.out.split(b'\n'))
            self.point('--text=lenient changes only blobs in %s' % mode,
                       b'blob data]' not in r.out and all(line in found for line in kept), r)
            self.point('with escapes, in %s' % mode,
                       re.search(rb'\\x[0-9a-f]{2}', r.out) or b'blob' not in strict, r)
        r = self.run('-D', self.sample, '--text=x')
        self.point('--text refuses other words', r.status == 1 and
                   r.err == b"Failed to parse --text='x'.\n", r)

    def test_compress(self):
        """What --compress writes, the tools read as one stream: entries and lines of ours."""
        cases = [('-o', 'export'), ('-n', '3', '--show-cursor'), ('NOTHING=here',),
                 ('-q', 'NOTHING=here'), ('-n', '0', '-q'), ('-n', '0', '--show-cursor')]
        for how, tool in (('zstd', 'zstd'), ('zstd:19', 'zstd'), ('lz4', 'lz4')):
            if not shutil.which(tool, path=harness.ENVIRONMENT['PATH']):
                continue
            for case in cases:
                want = self.run('-D', self.sample, *case)
                r = self.run('-D', self.sample, '--compress=' + how, *case)
                d = subprocess.run([tool, '-dc'], input=r.out, capture_output=True, check=False)
                self.point('--compress=%s %s' % (how, ' '.join(case)),
                           (r.status, r.err) == (want.status, want.err) and r.out != b'' and
                           (d.returncode, d.stdout) == (0, want.out), r)
        for how in ('gzip', 'zstd:0', 'zstd:20', 'zstd:', 'lz4:1'):
            r = self.run('-D', self.sample, '--compress=' + how)
            self.point('--compress refuses ' + how, r.status == 1 and r.out == b'' and r.err ==
                       b"Failed to parse --compress='%s'.\n" % how.encode(), r)
        r = self.run('-D', self.sample, '--compress=lz4', '--list-boots')
        self.point('--compress is refused where no entries are printed', r.status == 1 and
                   r.out == b'' and r.err == b'--compress= is for entries only.\n', r)
        master, slave = open_terminal()
        if master is None:
            return
        with subprocess.Popen([self.jscan, '-D', self.sample, '--compress=lz4'], stdout=slave,
                              stderr=subprocess.PIPE, env=dict(harness.ENVIRONMENT)) as p:
            err = p.stderr.read()
            p.wait(timeout=60)
        os.close(slave)
        os.close(master)
        r = harness.Result(p.returncode, b'', err)
        self.point('--compress is refused on a terminal', r.status == 1 and
                   err == b'--compress= does not write to a terminal.\n', r)

    def test_sources(self):
        """Files as arguments; a namespace below a root; what is no file stays what it is."""
        odd = os.path.join(self.scratch, 'odd [name]*.bak')
        shutil.copy(os.path.join(self.sample, 'system.journal'), odd)
        want = self.run('-i', os.path.join(self.sample, 'system.journal'), '-o', 'export')
        r = self.run(odd, '-o', 'export')
        self.point('an argument that is a journal is read', r.out == want.out and r.out, r)
        r = self.run('-D', self.sample, odd)
        self.point('it counts as --file does', r.status == 1 and
                   r.err.startswith(b'Please specify at most one of -D'), r)
        machine = '0123456789abcdef0123456789abcdef'
        for name in (machine, machine + '.side'):
            os.makedirs(os.path.join(self.scratch, 'root/var/log/journal', name))
        for folder, name in ((machine, 'system.journal'), (machine + '.side', 'user-1000.journal')):
            shutil.copy(os.path.join(self.sample, name),
                        os.path.join(self.scratch, 'root/var/log/journal', folder))
        root = '--root=' + os.path.join(self.scratch, 'root')
        r = self.run(root, '-o', 'export')
        self.point('--root reads what is in no namespace', r.out == want.out, r)
        want = self.run('-i', os.path.join(self.sample, 'user-1000.journal'), '-o', 'export')
        r = self.run(root, '--namespace=side', '-o', 'export')
        self.point('--namespace counts below --root', r.out == want.out and r.out, r)
        self.namespaces(root, machine)
        master, slave = open_terminal()
        if master is None:
            return
        try:
            os.write(master, b't=0\n')
            name = os.ttyname(slave)
            r = self.run('-D', self.sample, '-n', '+1', '-o', 'cat', '--cursor-file=' + name)
            self.point('a cursor is written into a device, not over it', r.status == 0 and
                       stat.S_ISCHR(os.stat(name).st_mode), r)
        finally:
            os.close(slave)
            os.close(master)

    def namespaces(self, root, machine):
        """Which namespaces --list-namespaces lists below a root, of which machine's ID."""
        folder = os.path.join(self.scratch, 'root')
        os.makedirs(os.path.join(folder, 'etc'))
        for name in ('..', '.a', 'a:b', 'a b', 'a\\b', '\u00fc'):
            os.makedirs(os.path.join(folder, 'run/log/journal', machine + '.' + name))
        for text, status, end in (
                (machine + '\n', 0, b'NAMESPACE\n.a\na:b\nside\n'),
                (machine.upper(), 0, b'NAMESPACE\n.a\na:b\nside\n'),
                ('', 1, b': No medium found\n'), ('0' * 32, 1, b': No medium found\n'),
                ('uninitialized\n', 1, b': Package not installed\n'),
                (machine + '\n\n', 1, b': Structure needs cleaning\n'),
                (machine[1:] + 'g', 1, b': Structure needs cleaning\n')):
            with open(os.path.join(folder, 'etc/machine-id'), 'w', encoding='ascii') as file:
                file.write(text)
            r = self.run(root, '--list-namespaces')
            self.point(f'the namespaces of the machine {text!r}', r.status == status and
                       (r.out + r.err).endswith(end), r)

    def missing(self, *files):
        """The ranges of numbers that --gaps lists, and those that follow from the entries."""
        arguments = [a for f in files for a in ('-i', os.path.join(self.sample, f))]
        r = self.run('--gaps=missing', '-o', 'json', *arguments)
        listed = sorted((g['seqnum_id'], g['first_seqnum'], g['last_seqnum'])
                        for g in json.loads(r.out))
        numbers = {}
        for line in self.run('-o', 'json', *arguments).out.splitlines():
            entry = json.loads(line)
            numbers.setdefault(entry['__SEQNUM_ID'], set()).add(int(entry['__SEQNUM']))
        want = []
        for name, there in numbers.items():
            last = 0
            for number in sorted(there):
                if number > last + 1:
                    want.append((name, last + 1, number - 1))
                last = number
        return r, listed, sorted(want)

    def test_summaries(self):
        """--count, --top, --histogram and --explain agree with the entries."""
        for match in ([], ['PRIORITY=6'], ['PRIORITY=6', '+', 'PRIORITY=3'], ['-g', 'a'],
                      ['-n', '7'], ['_TRANSPORT=none']):
            r = self.run('-D', self.sample, '-q', '-o', 'json', '-a', *match)
            entries = [json.loads(line) for line in r.out.splitlines()]
            r = self.run('-D', self.sample, '--count', *match)
            self.point('--count %s is how many there are' % ' '.join(match),
                       r.status == 0 and int(r.out) == len(entries), r)
            r = self.run('-D', self.sample, '--histogram=1h', *match)
            self.point('--histogram %s has them all' % ' '.join(match), r.status == 0 and
                       sum(row['count'] for row in json.loads(r.out)) == len(entries), r)
            counts = {}
            for entry in entries:
                values = entry.get('PRIORITY')
                for value in values if isinstance(values, list) else [values] if values else []:
                    counts[value] = counts.get(value, 0) + 1
            want = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:3]
            r = self.run('-D', self.sample, '--top=PRIORITY:3', '-o', 'json', *match)
            self.point('--top %s lists the most frequent' % ' '.join(match), r.status == 0 and
                       [(row['value'], row['count']) for row in json.loads(r.out)] == want, r)
        r = self.run('-D', self.sample, '--explain', '-o', 'json', '_TRANSPORT=none')
        self.point('--explain names what files lack', r.status == 0 and
                   {(row['plan'], row['why']) for row in json.loads(r.out)} ==
                   {('pruned', 'lacks _TRANSPORT=none')}, r)
        r = self.run('-D', self.sample, '--explain')
        self.point('--explain keeps all files without a match', r.status == 0 and
                   b' files kept; planned with ' in r.out and b'pruned' not in r.out, r)
        for wrong in ('--top=', '--top=A:0', '--histogram=x', '--top=lower'):
            r = self.run('-D', self.sample, wrong)
            self.point('%s is refused' % wrong, r.status == 1 and r.out == b'' and r.err != b'', r)

    def test_gaps(self):
        """--gaps lists what is missing, however files are left out, and what else is amiss."""
        files = sorted(f for f in os.listdir(self.sample) if '.journal' in f)
        for subset in range(1, 1 << len(files)):
            chosen = [f for i, f in enumerate(files) if subset >> i & 1]
            r, listed, want = self.missing(*chosen)
            if listed != want or subset + 1 == 1 << len(files):
                self.point('--gaps=missing is what the entries say', listed == want, r)
        r = self.run('-D', self.sample, '--gaps')
        lines = r.out.decode().splitlines()
        self.point('--gaps prints a table', r.status == 0 and r.err == b'' and
                   [x.split()[0] for x in lines] ==
                   ['KIND', 'not-closed', 'not-closed', 'clock-step'] and ' +12s ' in lines[3], r)
        r = self.run('-D', self.sample, '--gaps', '-q', '-n', '1')
        self.point('--gaps -q -n 1 prints the last row', r.out.startswith(b'clock-step ') and
                   r.out.count(b'\n') == 1, r)
        boot = lines[1].split()[-2]
        r = self.run('-D', self.sample, '--gaps', '-q', '-b', boot)
        self.point('--gaps -b is about one boot', r.out.count(b'\n') == 1 and
                   boot.encode() in r.out, r)
        r = self.run('-D', self.sample, '--gaps', '-U', '2024-03-30 23:00')
        self.point('--gaps -U', r.out.count(b'\n') == 2 and b'22:16:28' in r.out, r)
        r = self.run('-D', self.sample, '--gaps=header')
        self.point('--gaps says that there are none', r.status == 0 and r.out == b'' and
                   r.err == b'No gaps found.\n', r)
        r = self.run('-D', self.sample, '--gaps=header', '-o', 'json')
        self.point('--gaps -o json prints an array in any case', r.out == b'[]\n', r)
        r = self.run('-D', self.sample, '--gaps=x')
        self.point('--gaps refuses other kinds', r.status == 1 and
                   r.err == b"Failed to parse --gaps='x'.\n", r)
        r = self.run('-D', self.sample, '--gaps', '-u', 'x')
        self.point('--gaps refuses filters', r.status == 1 and
                   r.err == b'--gaps can be limited by boot and time only.\n', r)
        odd = os.path.join(self.scratch, 'a\n\x1b[1m"\udcff\u20ac.journal')
        shutil.copy(os.path.join(self.sample, 'system.journal'), odd)
        r = self.run(odd, '--gaps', '-q')
        self.point('--gaps escapes names', b'/a\\x0a\\x1b[1m"\\xff\xe2\x82\xac.journal\n' in r.out,
                   r)
        r = self.run(odd, '--gaps', '-o', 'json')
        self.point('--gaps -o json is JSON whatever the names',
                   json.loads(r.out)[0]['file'].endswith('\\xff\u20ac.journal'), r)

    def damaged(self):
        """A folder with a journal in whose middle bytes are overwritten, and a good one."""
        folder = os.path.join(self.scratch, 'damaged')
        os.mkdir(folder)
        shutil.copy(os.path.join(self.sample, 'user-1000.journal'), folder)
        path = os.path.join(folder, 'damaged.journal')
        shutil.copy(os.path.join(self.sample, 'system.journal'), path)
        with open(path, 'r+b') as f:
            data = f.read()
            at = data.index(b'MESSAGE=') & ~7
            f.seek(at - 64)
            f.write(b'\xff' * 40)
        return folder, path

    def test_strict(self):
        """--strict tells of damage by the exit status, and names the files."""
        folder, path = self.damaged()
        r = self.run('-D', self.sample, '--strict', '-o', 'cat')
        self.point('--strict: 0 where all is well', r.status == 0 and r.err == b'', r)
        r = self.run('-D', folder, '-o', 'export')
        self.point('damage is silent without --strict', r.status == 0 and r.err == b'', r)
        r = self.run('-D', folder, '-o', 'export', '--strict')
        self.point('--strict: 3 and one line for the damaged file', r.status == 3 and
                   r.err.startswith(b'Journal file %s is damaged at offset ' % path.encode()) and
                   r.err.count(b'\n') == 1, r)
        r = self.run('-D', folder, '-o', 'verbose', '--strict', '-q')
        self.point('--strict --quiet: only the status', r.status == 3 and r.err == b'', r)
        r = self.run('-D', folder, '-q', '-o', 'cat', '--stats=json')
        self.point('--stats counts damage', json.loads(r.err)['problems'] > 0, r)
        r = self.run('--file=/nonexistent.journal', '--strict')
        self.point('--strict: 3 for a file that cannot be opened', r.status == 3 and
                   r.err == b'Failed to open files: No such file or directory\n', r)
        r = self.run('-D', self.sample, '--strict', 'nonsense')
        self.point('--strict: 1 for a wrong command line', r.status == 1, r)

    def test_ends(self):
        """How the program ends when its output does."""
        reader, writer = os.pipe()
        os.close(reader)
        p = subprocess.run([self.jscan, '-D', self.sample, '-o', 'verbose'], stdout=writer,
                           stderr=subprocess.PIPE, env=harness.ENVIRONMENT, check=False)
        os.close(writer)
        r = harness.Result(p.returncode, b'', p.stderr)
        self.point('a closed pipe ends it by SIGPIPE', p.returncode == -signal.SIGPIPE, r)
        with open('/dev/full', 'wb') as full:
            p = subprocess.run([self.jscan, '-D', self.sample], stdout=full, check=False,
                               stderr=subprocess.PIPE, env=harness.ENVIRONMENT)
        r = harness.Result(p.returncode, b'', p.stderr)
        self.point('a full device is an error', p.returncode == 1 and
                   p.stderr == b'Failed to print entries: No space left on device\n', r)

    def test_interrupt(self):
        """SIGINT lets the output end behind an entry, with statistics, and then kills."""
        want = self.run('-D', self.sample, '-o', 'export').out
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        with subprocess.Popen([self.jscan, '-D', self.sample, '-o', 'export', '--stats=json'],
                              stdout=writer, stderr=subprocess.PIPE,
                              env=harness.ENVIRONMENT) as p:
            os.close(writer)
            select.select([reader], [], [], 60)
            p.send_signal(signal.SIGINT)
            with os.fdopen(reader, 'rb') as f:
                out = f.read()
            err = p.stderr.read()
            p.wait(timeout=60)
        r = harness.Result(p.returncode, out, err)
        self.point('SIGINT kills in the end', p.returncode == -signal.SIGINT, r)
        self.point('SIGINT leaves whole entries', out and want.startswith(out) and
                   out.endswith(b'\n\n'), r)
        self.point('SIGINT leaves statistics', err and
                   json.loads(err)['bytes_written'] == len(out), r)

    def test_terminal(self):
        """A terminal gets the same bytes as a pipe, and small scans show no progress."""
        want = self.run('-D', self.sample)
        master, slave = open_terminal()
        if master is None:
            return
        with subprocess.Popen([self.jscan, '-D', self.sample], stdout=subprocess.PIPE,
                              stderr=slave, env=dict(harness.ENVIRONMENT, TERM='xterm')) as p:
            out = p.stdout.read()
            p.wait(timeout=60)
        os.close(slave)
        try:
            shown = os.read(master, 65536)
        except OSError:
            shown = b''
        os.close(master)
        r = harness.Result(p.returncode, out, shown)
        self.point('standard error as a terminal changes nothing',
                   out == want.out and shown == b'', r)

    def test_verify(self):
        """A line for each file, what is wrong before it, and a bar on a terminal."""
        folder = os.path.join(self.scratch, 'verify')
        os.mkdir(folder)
        good = shutil.copy(os.path.join(self.sample, 'user-1000.journal'), folder)
        bad = shutil.copy(os.path.join(self.sample, 'system.journal'), folder)
        with open(bad, 'r+b') as f:
            f.seek(17)
            f.write(b'x')
        lines = ['000011: Reserved field is non-zero',
                 'File corruption detected at %s:0 (of %d bytes, 0%%).' % (
                     bad, os.path.getsize(bad)),
                 'FAIL: %s: Bad message' % bad]
        r = self.run('-D', folder, '--verify')
        said = r.err.decode().splitlines()
        self.point('--verify says what is wrong, and which files pass',
                   r.status == 1 and r.out == b'' and sorted(said) == sorted(
                       lines + ['PASS: %s' % good]) and said.index(lines[0]) + 2 ==
                   said.index(lines[2]), r)
        r = self.run('-D', folder, '--verify', '-q')
        self.point('--verify -q is silent about files that pass',
                   r.status == 1 and r.err.decode().splitlines() == lines, r)
        r = self.run('--file', good, '--verify-key=x')
        self.point('what is no key is said and looked at no file', r.status == 1 and r.err ==
                   b'Failed to load verification key: Key was rejected by service\n', r)
        master, slave = open_terminal()
        if master is None:
            return
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 40, 0, 0))
        with subprocess.Popen([self.jscan, '--file', good, '--verify'], stdout=slave,
                              stderr=subprocess.PIPE, env=dict(harness.ENVIRONMENT)) as p:
            err = p.stderr.read()
            p.wait(timeout=60)
        os.close(slave)
        shown = os.read(master, 65536).decode()
        os.close(master)
        r = harness.Result(p.returncode, shown.encode(), err)
        self.point('--verify draws a bar on a terminal and wipes it',
                   shown.startswith('\r' + '\u2591' * 30 + '   0%\r') and
                   shown.endswith('\r' + ' ' * 35 + '\r') and p.returncode == 0, r)


if __name__ == '__main__':
    sys.exit(Own.main())
