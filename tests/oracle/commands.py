# SPDX-License-Identifier: MIT
"""Random command lines about a set of files (journals.py), and the environment they run in.

What is asked for is mostly there, sometimes not, and sometimes wrong. With alike only what versions
252 and 262 do alike is asked for.
"""
import os
import time

import journals

MODES = ['short', 'short-full', 'short-iso', 'short-iso-precise', 'short-precise',
         'short-monotonic',
         'short-delta', 'short-unix', 'verbose', 'export', 'json', 'json-pretty', 'json-sse',
         'json-seq', 'cat', 'with-unit']
MODES_ALIKE = ['short', 'short-full', 'short-precise', 'short-unix', 'verbose', 'export',
                'json', 'json-pretty', 'json-sse', 'json-seq', 'cat']
ZONES = ['UTC', 'UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'America/New_York']
LEVELS = ['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug']


class Command:
    """One command line: words, where its standard input comes from, its environment, and what the
    comparison has to know of it."""

    def __init__(self, commands):
        self.action = 'show'
        self.mode = 'short'
        self.source = []
        self.words = []
        self.stdin = None
        self.paths = []        # the files read, where they are named one by one
        self.environment = {}
        self.cursor_file = None
        self.reads_all = commands.set.paths


class Commands:
    """Makes command lines about one set."""

    def __init__(self, rng, journal_set, cursors, alike=False):
        self.rng, self.set, self.cursors, self.alike = rng, journal_set, cursors, alike

    def chance(self, probability):
        return self.rng.random() < probability

    def make(self):
        c = Command(self)
        c.environment = {'TZ': self.rng.choice(ZONES), 'LC_ALL': 'C.UTF-8', 'TERM': 'dumb'}
        self.choose_source(c)
        kind = self.rng.random()
        if kind < 0.80:
            self.ask_entries(c)
        elif kind < 0.86:
            self.ask_boots(c)
        elif kind < 0.93:
            self.ask_values(c)
        elif kind < 0.97 and not self.alike:
            self.ask_invocations(c)
        else:
            self.ask_files(c)
        self.decorate(c)
        return c

    def choose_source(self, c):
        rng, paths = self.rng, list(self.set.paths)
        kind = rng.randrange(10)
        if kind < 4:
            c.source = [rng.choice(['-D', '--directory=']), self.set.folder]
            if c.source[0].startswith('--'):
                c.source = [''.join(c.source)]
            return
        if kind == 4 and not self.alike:
            c.source = ['--file=' + os.path.join(self.set.folder,
                                                 rng.choice(['*.journal', 's*.journal']))]
            if not any(os.path.basename(p).startswith('s') for p in paths) or self.set.extra:
                c.source = ['-i' + os.path.join(self.set.folder, os.path.basename(paths[0]))]
                c.paths = [paths[0]]
            return
        if kind == 5 and len(paths) == 1 and not self.alike:
            c.source, c.stdin, c.paths = ['--file=-'], paths[0], paths
            return
        rng.shuffle(paths)
        if kind > 7:
            paths = paths[:rng.randint(1, len(paths))]
        c.paths = paths
        c.source = ['--file=' + p for p in paths]

    # ---- the actions

    def ask_entries(self, c):
        rng = self.rng
        if self.chance(0.8):
            c.mode = rng.choice(MODES_ALIKE if self.alike else MODES)
            c.words += rng.choice([['-o', c.mode], ['--output=' + c.mode]])
        self.choose_place(c)
        for add, probability in ((self.add_modifiers, 0.6), (self.add_boot, 0.2),
                                 (self.add_units, 0.15), (self.add_identifiers, 0.15),
                                 (self.add_priority, 0.2), (self.add_facility, 0.08),
                                 (self.add_grep, 0.15), (self.add_dmesg, 0.05),
                                 (self.add_matches, 0.2), (self.add_invocation, 0.06),
                                 (self.add_mistake, 0.03)):
            if self.chance(probability):
                add(c)

    def choose_place(self, c):
        """How many, from where, in which direction."""
        rng = self.rng
        bounded = False
        # Where a clock jumps, versions look for times in ways of their own.
        if self.chance(0.3) and not (self.alike and self.set.shape == 'jumping'):
            if self.chance(0.65):
                c.words += rng.choice([['-S', self.time()], ['--since=' + self.time()]])
                bounded = True
            if self.chance(0.65):
                c.words += rng.choice([['-U', self.time()], ['--until=' + self.time()]])
                bounded = True
        if self.cursors and self.chance(0.2) and not bounded and not self.alike:
            cursor = self.cursor()
            kind = rng.randrange(3)
            if kind == 2:
                c.cursor_file = cursor
            else:
                c.words += [['-c', cursor], ['--after-cursor=' + cursor]][kind]
        if self.chance(0.35) and not (self.alike and bounded):
            n = rng.choice([1, 1, 2, 3, 5, 10, 1000] + ([] if self.alike else [0]))
            forms = [['-n', '%d' % n], ['-n%d' % n], ['--lines=%d' % n], ['-n', '0x%x' % n]]
            if not self.alike:
                forms += [['-n', '+%d' % n], ['-n', 'all'], ['-n']]
            c.words += rng.choice(forms)
        if self.chance(0.25):
            c.words.append(rng.choice(['-r', '--reverse']))
        if self.chance(0.15) and not self.alike:
            c.words.append('--show-cursor')

    def ask_boots(self, c):
        c.action = 'boots'
        c.words.append('--list-boots')
        if self.chance(0.4) and not self.alike:
            c.words += self.rng.choice([['-n', '1'], ['-n', '+2'], ['-n2'], ['-n', '0']])
        if self.chance(0.3):
            c.words.append('-r')
        self.add_table_mode(c)

    def ask_values(self, c):
        if self.chance(0.2):
            c.action = 'names'
            c.words.append('-N')
            return
        c.action = 'values'
        name = self.rng.choice(['_SYSTEMD_UNIT', 'MESSAGE', 'PRIORITY', '_BOOT_ID', 'A', 'NONE',
                                'SYSLOG_IDENTIFIER', 'lower', '__X'])
        c.words += self.rng.choice([['-F', name], ['--field=' + name]])
        if self.chance(0.2) and not self.alike:
            c.words += ['-n', self.rng.choice(['1', '3', '+2'])]
        if self.chance(0.1) and not self.alike:
            self.add_priority(c)

    def ask_invocations(self, c):
        c.action = 'invocations'
        c.words.append('--list-invocations')
        if self.chance(0.9):
            c.words += ['-u', self.unit()]
        if self.chance(0.3):
            self.add_boot(c)
        if self.chance(0.4):
            c.words += self.rng.choice([['-n', '1'], ['-n', '+2'], ['-n2']])
        if self.chance(0.3):
            c.words.append('-r')
        self.add_table_mode(c)

    def ask_files(self, c):
        c.action = self.rng.choice(['header', 'disk-usage', 'verify'])
        if self.alike:
            c.action = 'verify'
        c.words.append('--' + c.action)

    def add_table_mode(self, c):
        if self.chance(0.5):
            modes = ['json', 'json-pretty', 'json-sse', 'json-seq', 'short', 'cat', 'export',
                     'verbose']
            c.mode = self.rng.choice(modes)
            c.words += ['-o', c.mode]

    # ---- selections

    def a_time(self):
        """The time of an entry, or near one, in microseconds."""
        t = self.rng.choice(self.set.entries).realtime
        return t + self.rng.choice([0, 0, 0, -1, 1, 500000, -journals.SECOND, 60 * journals.SECOND])

    def time(self):
        rng, t = self.rng, self.a_time()
        second, fraction = divmod(t, journals.SECOND)
        utc = time.gmtime(second)
        kind = rng.randrange(20)
        exact = '@%d.%06d' % (second, fraction)
        if kind < 6 or (self.alike and kind > 12):
            return exact
        if kind < 8:
            return time.strftime('%Y-%m-%d %H:%M:%S', utc) + '.%06d UTC' % fraction
        if kind == 8:
            return time.strftime('%Y-%m-%d %H:%M:%S', utc)
        if kind == 9:
            return time.strftime('%a %Y-%m-%d %H:%M', utc)
        if kind == 10:
            return time.strftime('%y-%m-%d', utc)
        if kind == 11:
            return rng.choice(['today', 'yesterday', 'tomorrow', 'now', '-1h', '1h ago', '+2d',
                               '-800days', '5y ago', '1month 2w ago'])
        if kind == 12:
            return rng.choice(['noon', '2024-13-01', '', '24:00', '2024/05/01', 'soon', '12', '@',
                               '1h'])
        if kind == 13:
            return time.strftime('%Y-%m-%dT%H:%M:%S', utc) + '.%06dZ' % fraction
        if kind == 14:
            return time.strftime('%Y-%m-%dT%H:%M:%S', utc) + rng.choice(['+02:00', '-03:30', 'Z',
                                                                         '+0200'])
        if kind == 15:
            return time.strftime('%Y-%m-%d %H:%M:%S', utc) + rng.choice(
                [' Europe/Berlin', ' Asia/Tokyo', ' CET', ' +02', ' -0330', ' Z', ' EST', ' utc'])
        if kind == 16:
            return '@%dmin %ds' % (second // 60, second % 60)
        if kind == 17:
            return time.strftime('%b %d %H:%M:%S', utc)
        if kind == 18:
            return time.strftime('%Y-%m-%d %H:%M:%S',
                                 utc) + '.%d' % rng.randrange(10 ** rng.randint(1, 9))
        return time.strftime(rng.choice(['%A %Y-%m-%d', '%H:%M', ' %Y-%m-%d  %H:%M:%S',
                                         '%Y-%m-%d ']), utc)

    def cursor(self):
        """A cursor of an entry, whole or in part, or one that is none."""
        rng = self.rng
        cursor = rng.choice(self.cursors)
        kind = rng.randrange(12)
        parts = cursor.split(';')
        if kind < 7:
            return cursor
        if kind == 7:
            return ';'.join(parts[:2])
        if kind == 8:
            return ';'.join(parts[2:4])
        if kind == 9:
            return parts[4]
        if kind == 10:
            rng.shuffle(parts)
            return ';'.join(parts)
        return rng.choice([parts[0], 'x=1', '', cursor + ';', cursor.replace('t=', 't=1'),
                           's=%s;%s' % ('0' * 31 + '1', ';'.join(parts[2:])), cursor + ';q=5'])

    def add_boot(self, c):
        rng, boots = self.rng, self.set.boots()
        boot = rng.choice(boots)
        forms = [['-b', boot], ['--boot=' + boot], ['-b', 'all']]
        if not self.alike or len(boots) > 1:
            forms += [['-b'], ['-b', '-1'], ['-b1'], ['-b', '0'], ['--boot=-1'], ['-b', '2'],
                      ['-b', boot + '-1'], ['-b', boot + '+1'], ['--this-boot']]
        if not self.alike:
            forms += [['-b', '+9'], ['-b', 'f' * 32], ['-b=1'], ['--boot=bad'], ['-b',
                                                                                 boot.upper()]]
        c.words += rng.choice(forms)

    def unit(self):
        return self.rng.choice(journals.UNITS + ['cups', 'getty@*', 'ss?.service', '*', 'none',
                                                 'no*', 'user@0',
                                                 '/srv/x', 'bad name', '[cs]*.service'])

    def add_units(self, c):
        for _ in range(self.rng.choice([1, 1, 2])):
            unit = self.unit()
            c.words += self.rng.choice([['-u', unit], ['--unit=' + unit], ['-u' + unit],
                                        ['--user-unit=' + unit]])
        if self.chance(0.05) and not self.alike:
            c.words += ['-u', '']

    def add_identifiers(self, c):
        for _ in range(self.rng.choice([1, 1, 2])):
            identifier = self.rng.choice(journals.IDENTIFIERS + ['none'])
            c.words += ['-t', identifier]
        if self.chance(0.4) and not self.alike:
            c.words += ['-T', self.rng.choice(journals.IDENTIFIERS)]

    def add_priority(self, c):
        rng = self.rng
        last = 7 if self.alike else 8 # all levels are no filter for version 252
        forms = ['%d' % rng.randrange(last), rng.choice(LEVELS[:last]),
                 '%d..%d' % (rng.randrange(last), rng.randrange(last)),
                 rng.choice(LEVELS[:last]) + '..' + rng.choice(LEVELS[:last])]
        if not self.alike:
            forms.append(rng.choice(['8', 'error', '..3', '1..', '', '1..x']))
        c.words += ['-p', rng.choice(forms)]

    def add_facility(self, c):
        wrong = [] if self.alike else ['bad', '128', 'kern,,x']
        c.words.append('--facility='
                       + self.rng.choice(['kern', 'daemon,authpriv', '23', '', '0,3,'] + wrong))

    def add_grep(self, c):
        rng = self.rng
        pattern = rng.choice(journals.WORDS + ['^e', 'o+', 'x{20}', '[0-9]', 'NO', 'r$', '\\d',
                                               '(a|d)isk', '.', 'no such'])
        if self.chance(0.1) and not self.alike:
            pattern = rng.choice(['(', '[a', 'a**', '*'])
        c.words += rng.choice([['-g', pattern], ['--grep=' + pattern]])
        if self.chance(0.2):
            c.words.append(rng.choice(['--case-sensitive', '--case-sensitive=no',
                                       '--case-sensitive=yes']))

    def add_dmesg(self, c):
        c.words += [self.rng.choice(['-k', '--dmesg'])] + (['-b', 'all'] if self.alike else [])

    def add_invocation(self, c):
        rng, known = self.rng, self.set.invocations()
        if self.alike:
            return
        forms = [['-I'], ['--invocation=0'], ['--invocation=-1'], ['--invocation=1'],
                 ['--invocation=all'],
                 ['--invocation=bad']]
        if known:
            forms += [['--invocation=' + rng.choice(known)]] * 4 + [['--invocation=%s-1'
                                                                     % rng.choice(known)]]
        c.words += rng.choice(forms)
        if self.chance(0.7):
            c.words += ['-u', self.unit()]

    def add_matches(self, c):
        rng = self.rng
        fields = [(n, v) for n, v in rng.choice(self.set.entries).fields if isinstance(v,
                                                                                       str) and v]
        other = [('PRIORITY', '3'), ('A', '1'), ('B', '2'), ('_TRANSPORT', 'kernel'), ('NONE', 'x')]
        for i in range(rng.choice([1, 1, 2, 3, 4])):
            # Version 252 applies facilities to the first group only.
            plus = not (self.alike and any(w.startswith('--facility') for w in c.words))
            if i and plus and self.chance(0.35):
                c.words.append('+')
            c.words.append('%s=%s' % rng.choice((fields or other) + other))
        if self.chance(0.05) and not self.alike:
            c.words.append(rng.choice(['+', 'bad', 'lower=1', '__X=1', '=x', '/usr/bin/env',
                                       '/nowhere', '/etc/hostname']))

    # ---- all else

    def add_modifiers(self, c):
        rng = self.rng
        words = [['-a'], ['--all'], ['-q'], ['--utc'], ['--no-hostname'], ['-l'], ['--full'],
                 ['--no-tail'], ['--no-pager']]
        if not self.alike:
            words += [['--no-full'], ['-x'], ['--truncate-newline'], ['-W'], ['-m'], ['-e'],
                      ['--system'],
                      ['--output-fields='
                       + rng.choice(['MESSAGE', 'A,B', 'PRIORITY,_PID,MESSAGE', ''])]]
        else:
            words += [['--output-fields=MESSAGE']]
        for _ in range(rng.choice([1, 1, 2, 3])):
            c.words += rng.choice(words)

    def add_mistake(self, c):
        if self.alike:
            return
        c.words += self.rng.choice([['--nonsense'], ['--he'], ['-Z'], ['-o'], ['--output=bad'],
                                    ['--quiet=1'], ['-n', '-1'], ['--lines=x'],
                                    ['--follow', '-r'], ['--file=/nowhere'], ['--since'],
                                    ['--list-boots', 'X=1'], ['-r', '-n', '+1'], ['--']])

    def decorate(self, c):
        """The environment, and the order of the words."""
        rng = self.rng
        if self.chance(0.25) and not self.alike:
            c.environment['SYSTEMD_COLORS'] = rng.choice(['1', '0', '16', '256', '24bit', 'junk',
                                                          'auto-256'])
        if self.chance(0.1) and not self.alike:
            c.environment['SYSTEMD_URLIFY'] = rng.choice(['1', '0'])
        if self.chance(0.25):
            c.environment['COLUMNS'] = rng.choice(['80', '20', '40', '200', '3', '0', 'x'])
        if self.chance(0.1) and not self.alike:
            c.environment['LC_ALL'] = 'C'
        c.words = c.source + c.words if self.chance(0.5) else c.words + c.source
        if '--' in c.words:
            c.words = c.source + c.words
