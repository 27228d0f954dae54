# SPDX-License-Identifier: MIT
"""Random sets of journal files: export text from a seed, given to systemd-journal-remote.

A Set tells what it holds, so that command lines can ask for what is there. It is built by whatever
writer is named, in random layouts: hence the same seed gives the same entries, but other file IDs
each time. Writers number entries by themselves; files share an ID of sequence numbers only where
one was copied and written on.
"""
import os
import shutil
import subprocess

SECOND = 1000000
# The writers' environment: file layouts.
LAYOUTS = [{'SYSTEMD_JOURNAL_COMPACT': compact, 'SYSTEMD_JOURNAL_KEYED_HASH': keyed,
            'SYSTEMD_JOURNAL_COMPRESS': compress}
           for compact in '10' for keyed in '10' for compress in ('zstd', 'lz4', 'xz', '0')]
# Times that entries begin at: an ordinary one, before changes of summer time, a new year.
BEGINNINGS = [1714557601, 1711846000, 1729988000, 1704066900]
SHAPES = ['single', 'split', 'rotated', 'forked', 'machines', 'copied', 'jumping', 'tangled']
# Sets in which versions 252 and 262 agree on the order.
SHAPES_ALIKE = ['single', 'jumping', 'split', 'rotated']

UNITS = ['cups.service', 'ssh.service', 'getty@tty1.service', 'cron.timer', 'user.slice',
         'a-b.mount',
         'odd\\x2dname.service', 'init.scope']
IDENTIFIERS = ['sshd', 'kernel', 'cron', 'my app', 'ü', '', 'x' * 40, 'tab\there', 'long' * 90]
TRANSPORTS = ['journal', 'syslog', 'kernel', 'audit', 'stdout', 'driver']
WORDS = ['error', 'Failed', 'ok', 'connection', 'von', 'zwei', 'größe', '日本語', 'disk', '42', '$x',
         'a.b', 'No', 'end.', 'https://example.org/x', '/etc/fstab:', '🡕']
TEXT_MESSAGE_ID = '8d45620c1a4348dbb17410da57c60c66' # systemd's catalog knows it


def identity(rng):
    """A random ID of 128 bits."""
    return '%032x' % rng.getrandbits(128)


def plain_message(rng):
    return ' '.join(rng.choice(WORDS) for _ in range(rng.randint(1, 12))).encode()


def message(rng, alike):
    """The bytes of a message, of every kind that a mode treats in its own way."""
    kind = rng.randrange(24)
    if alike and kind in (15, 18):
        kind = 0 # links, and NUL with -a
    text = plain_message(rng)
    if kind < 10:
        return text
    if kind == 10:
        return b''
    if kind == 11:
        return b'\n'.join(plain_message(rng) for _ in range(rng.randint(2, 5)))
    if kind == 12:
        return text + rng.choice([b'\n', b'\n\n', b'\r\n', b'\r', b' \t'])
    if kind == 13:
        return text + b'\t' + text + b'\t\tx'
    if kind == 14:
        return b'\x1b[31m' + text + b'\x1b[0m' + rng.choice([b'', b'\x1b[1;2', b'\x1bM', b'tail'])
    if kind == 15:
        return b'\x1b]8;;http://a.b\x1b\\' + text + b'\x1b]8;;\x07'
    if kind == 16:
        return text + bytes([rng.randrange(128, 256)]) + text
    if kind == 17:
        return rng.randbytes(rng.choice([1, 7, 200]))
    if kind == 18:
        return text + b'\0' + text
    if kind == 19:
        return text * rng.choice([6, 9, 60, 300])
    if kind == 20:
        return (text + b'\n') * rng.choice([3, 10, 50])
    if kind == 21:
        return rng.choice(['\u2028', '\ufeff', '\ufdd0', '\uffff', '\x7f', '\x85', '\u0301',
                           'x\ry', '\x01']).encode() + text
    if kind == 22:
        return b'x' * rng.choice([298, 299, 300, 4087, 4088, 5000]) + rng.choice([b'', b'\xff'])
    return rng.choice([b'"quoted" \\ back', b'{"a": 1}', b'/etc/fstab: bad', b'  blanks  '])


def field(name, value):
    """A field in the export format."""
    if isinstance(value, str):
        value = value.encode()
    if b'\n' in value or b'\0' in value or any(c < 32 and c != 9
                                               for c in value) or b'\xff' in value:
        return name.encode() + b'\n' + len(value).to_bytes(8, 'little') + value + b'\n'
    return name.encode() + b'=' + value + b'\n'


class Entry:
    """One entry: where it stands, and its fields as (name, value) in the order of the sender."""

    def __init__(self, boot, realtime, monotonic, fields):
        self.boot, self.realtime, self.monotonic, self.fields = boot, realtime, monotonic, fields

    def export(self):
        head = '__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n_BOOT_ID=%s\n' % (
            self.realtime, self.monotonic, self.boot)
        return head.encode() + b''.join(field(n, v) for n, v in self.fields) + b'\n'

    def values(self, name):
        return [v for n, v in self.fields if n == name]


class Writer:
    """A machine that logs: the state of its clocks, and what its fields say."""

    def __init__(self, rng, begin, alike):
        self.rng, self.alike = rng, alike
        self.machine = identity(rng)
        self.host = rng.choice(['box', 'host.example', 'h' * 30, 'ü'])
        self.realtime = begin * SECOND + rng.randrange(SECOND)
        self.monotonic = 0
        self.boot = None
        self.invocations = {}
        self.all_invocations = []
        self.new_boot()

    def new_boot(self):
        self.boot = identity(self.rng)
        self.monotonic = self.rng.choice([1500000, 12500001, 999])
        self.realtime += self.rng.randrange(1, 300 * SECOND)
        self.invocations = {}

    def advance(self):
        span = self.rng.choice([1, 250000, SECOND, 61 * SECOND,
                                3600 * SECOND]) * self.rng.randint(1, 3)
        self.monotonic += span
        self.realtime += span

    def invocation(self, unit):
        if unit not in self.invocations or self.rng.random() < 0.15:
            self.invocations[unit] = identity(self.rng)
            self.all_invocations.append(self.invocations[unit])
        return self.invocations[unit]

    def unit_fields(self):
        """What says which unit an entry belongs to, or is about."""
        rng, unit = self.rng, self.rng.choice(UNITS)
        kind = rng.randrange(8)
        if kind < 3:
            fields = [('_SYSTEMD_UNIT', unit), ('_SYSTEMD_CGROUP', '/system.slice/' + unit)]
            if rng.random() < 0.7:
                fields.append(('_SYSTEMD_INVOCATION_ID', self.invocation(unit)))
            if rng.random() < 0.3:
                fields.append(('_SYSTEMD_SLICE', 'user.slice'))
            return fields
        if kind == 3:
            manager = self.alike or rng.random() < 0.7
            return [('UNIT', unit), ('INVOCATION_ID', self.invocation(unit)), ('_PID', '1'),
                    ('_SYSTEMD_CGROUP', '/init.scope' if manager else '/other')]
        if kind == 4:
            return [('OBJECT_SYSTEMD_UNIT', unit), ('_UID', rng.choice(['0', '1000']))]
        if kind == 5:
            fields = [('COREDUMP_UNIT', unit), ('MESSAGE_ID', 'fc2e22bc6ee647b6b90729ab34a250b1')]
            return fields + ([('_UID', '0')] if self.alike or rng.random() < 0.5 else [])
        if kind == 6:
            return [('_SYSTEMD_USER_UNIT', rng.choice(UNITS)), ('_UID', rng.choice(['0', '1000'])),
                    ('_SYSTEMD_UNIT', 'user@0.service')]
        return []

    def entry(self):
        rng = self.rng
        self.advance()
        fields = [('_MACHINE_ID', self.machine), ('_HOSTNAME', self.host)]
        if rng.random() < 0.95:
            fields.append(('MESSAGE', message(rng, self.alike)))
        if rng.random() < 0.9:
            fields.append(('PRIORITY', rng.choice('01234567' * 3 + '89x')))
        if rng.random() < 0.85:
            fields.append(('SYSLOG_IDENTIFIER', rng.choice(IDENTIFIERS)))
        if rng.random() < 0.5:
            fields.append(('_COMM', rng.choice(['sshd', 'cron', 'sh', 'bi\x01n'])))
        if rng.random() < 0.3:
            fields.append(('SYSLOG_FACILITY', rng.choice(['0', '3', '10', '23'])))
        if rng.random() < 0.6:
            fields.append(('_TRANSPORT', rng.choice(TRANSPORTS)))
        if rng.random() < 0.15:
            source = self.realtime + rng.choice([-5, 3, -2 * SECOND, 7 * SECOND])
            fields.append(('_SOURCE_REALTIME_TIMESTAMP', rng.choice(
                ['%d' % source, '%d' % source, '0x%x' % source, '-5', '0', '12 ', 'soon'])))
        if rng.random() < 0.1 and not self.alike:
            fields.append(('_SOURCE_MONOTONIC_TIMESTAMP', '%d' % (self.monotonic - 3)))
        if rng.random() < 0.05:
            fields.append(('MESSAGE', plain_message(rng)))
        if rng.random() < 0.05:
            fields.append(('SYSLOG_IDENTIFIER', 'again'))
        if rng.random() < 0.06:
            fields.append(('MESSAGE_ID', rng.choice([TEXT_MESSAGE_ID, identity(rng), 'none'])))
        if rng.random() < 0.05:
            fields.append(('DOCUMENTATION',
                           rng.choice(['man:sshd(8)', 'https://e.org/a b', 'no url'])))
        if rng.random() < 0.05:
            fields.append(('CONFIG_FILE', '/etc/fstab'))
        for _ in range(rng.choice([0, 0, 1, 3])):
            fields.append((rng.choice(['A', 'B', 'CODE_LINE', 'X_Y', 'N' * 64]), rng.choice(
                ['1', '2', 'two words', b'\x00\x01', b'a\nb', 'y' * 800, b'\xfe' * 600, ''])))
        fields += self.unit_fields()
        names = [n for n, _ in fields]
        if '_PID' not in names and rng.random() < 0.5:
            fields.append((rng.choice(['_PID', 'SYSLOG_PID']), rng.choice(['1', '4242', 'p'])))
        rng.shuffle(fields)
        return Entry(self.boot, self.realtime, self.monotonic, fields)


class Set:
    """Files in a folder, and what they are about. ALIKE: only what 252 and 262 treat alike."""

    def __init__(self, rng, alike=False):
        self.rng, self.alike = rng, alike
        self.shape = rng.choice(SHAPES_ALIKE if alike else SHAPES)
        self.begin = rng.choice(BEGINNINGS)
        self.writers = [Writer(rng, self.begin, alike)]
        self.parts = []  # of each file: (name, entries), or (name, entries, name of the copied one)
        self.extra = []  # of each further file: (name, bytes)
        getattr(self, 'shape_' + self.shape)()
        if not alike and rng.random() < 0.15:
            self.extra.append(rng.choice([('empty.journal', b''), ('bad.journal', b'x' * 300),
                                          ('notes.txt', b'x'), ('old.journal~', b'LPKSHHRH'
                                                                + b'\0' * 60)]))
        self.entries = [e for part in self.parts for e in part[1]]
        self.paths = []

    # ---- shapes

    def run(self, writer, count, boots=1):
        """So many entries of a machine, over so many boots. Version 252 compares no boots."""
        entries = []
        boots = 1 if self.alike and self.shape != 'single' else boots
        for boot in range(boots):
            if boot:
                writer.new_boot()
            entries += [writer.entry() for _ in range(max(1, count // boots))]
        return entries

    def shape_single(self):
        rng = self.rng
        self.parts = [('system.journal', self.run(self.writers[0], rng.randint(1, 40),
                                                  rng.randint(1, 4)))]

    def shape_jumping(self):
        """One file, whose clock is set back now and then."""
        writer, entries = self.writers[0], []
        for _ in range(self.rng.randint(2, 4)):
            entries += self.run(writer, self.rng.randint(2, 10))
            writer.realtime -= self.rng.choice([5 * SECOND, 600 * SECOND, 7200 * SECOND])
            if self.rng.random() < 0.3:
                writer.new_boot()
        self.parts = [('system.journal', entries)]

    def shape_split(self):
        """One machine whose entries go to several files, as those of users do."""
        names = ['system.journal', 'user-1000.journal', 'user-0.journal', 'system@x.journal'][
            :self.rng.randint(2, 4)]
        self.parts = [(n, []) for n in names]
        for entry in self.run(self.writers[0], self.rng.randint(4, 50), self.rng.randint(1, 4)):
            self.rng.choice(self.parts)[1].append(entry)

    def shape_rotated(self):
        entries = self.run(self.writers[0], self.rng.randint(6, 50), self.rng.randint(1, 4))
        size = max(1, len(entries) // self.rng.randint(2, 4))
        self.parts = [('system@%d.journal' % i, entries[i:i + size])
                      for i in range(0, len(entries), size)]

    def shape_forked(self):
        """A file, and a copy of it that was written on: they share their beginning and ID."""
        writer, rng = self.writers[0], self.rng
        common = self.run(writer, rng.randint(1, 12), rng.randint(1, 2))
        more = self.run(writer, rng.randint(2, 20), rng.randint(1, 3))
        cut = rng.randint(1, len(more) - 1) if len(more) > 1 else 1
        self.parts = [('system.journal', common),
                      ('system@copy.journal', more[cut:], 'system.journal')]
        if rng.random() < 0.5:
            self.parts.append(('user-1000.journal', more[:cut]))

    def shape_machines(self):
        rng = self.rng
        self.writers += [Writer(rng, self.begin + rng.choice([0, 3, 4000]), self.alike)
                         for _ in range(rng.randint(1, 2))]
        self.parts = [('remote-%d.journal' % i, self.run(w, rng.randint(2, 20), rng.randint(1, 3)))
                      for i, w in enumerate(self.writers)]

    def shape_copied(self):
        """Some entries are in two files, all of one boot."""
        entries = self.run(self.writers[0], self.rng.randint(4, 30))
        self.parts = [('system.journal', [e for e in entries if self.rng.random() < 0.8]),
                      ('user-1000.journal', [e for e in entries if self.rng.random() < 0.6])]
        self.parts = [p for p in self.parts if p[1]] or [('system.journal', entries)]

    def shape_tangled(self):
        """Several files, machines, and clocks that are set back: no order is right."""
        self.writers.append(Writer(self.rng, self.begin, self.alike))
        self.parts = [('f%d.journal' % i, []) for i in range(self.rng.randint(2, 4))]
        for _ in range(self.rng.randint(3, 8)):
            writer = self.rng.choice(self.writers)
            for entry in self.run(writer, self.rng.randint(1, 5)):
                self.rng.choice(self.parts)[1].append(entry)
            if self.rng.random() < 0.4:
                writer.realtime -= self.rng.choice([SECOND, 90 * SECOND, 4000 * SECOND])
            if self.rng.random() < 0.3:
                writer.new_boot()

    # ---- building

    def build(self, folder, writers):
        """Writes the files, each by one of these programs. Returns whether it worked."""
        self.folder = folder
        for i, part in enumerate(self.parts):
            name, entries = part[:2]
            if not entries:
                continue
            path = os.path.join(folder, name)
            if len(part) > 2:
                shutil.copyfile(os.path.join(folder, part[2]), path)
            text = os.path.join(folder, 'text-%d.export' % i)
            with open(text, 'wb') as f:
                f.write(b''.join(e.export() for e in entries))
            layout = self.rng.choice(LAYOUTS)
            done = subprocess.run([self.rng.choice(writers), '-o', path, text], check=False,
                                  env={**os.environ, **layout}, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            if done.returncode != 0:
                raise RuntimeError('%s: %s' % (text, done.stderr.decode(errors='replace')))
            if path not in self.paths:
                self.paths.append(path)
        for name, data in self.extra:
            with open(os.path.join(folder, name), 'wb') as f:
                f.write(data)

    # ---- what it is about

    def boots(self):
        """The boots, in the order in which they were logged."""
        return list(dict.fromkeys(e.boot for e in self.entries))

    def invocations(self):
        return [i for w in self.writers for i in w.all_invocations]
