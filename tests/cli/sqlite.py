#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the sink for SQLite: sqlite.py JSCAN SAMPLE MODULE

A database must hold what -o json-stable prints, each entry once, however often the sink was run and
wherever it was killed.
"""
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import harness
json_stable = __import__('json-stable')

KILLS = 24


class Sqlite:
    """The command, the sample, the module and a scratch folder."""

    def __init__(self, jscan, sample, module, scratch):
        self.tap = harness.Tap()
        self.jscan = jscan
        self.sample = sample
        self.scratch = scratch
        self.environment = {'JSCAN_SINKS': os.path.dirname(module)}

    def run(self, *arguments):
        return harness.run([self.jscan, '-D', self.sample] + list(arguments),
                           environment=self.environment)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def point(self, name, good, r):
        self.tap.point(good, name, 'status %s\n%s' % (r.status,
                                                      r.err[-1000:].decode(errors='replace')))

    def rows(self, name, question):
        db = sqlite3.connect(self.path(name))
        rows = db.execute(question).fetchall()
        db.close()
        return rows

    @staticmethod
    def signed(number):
        return number - (1 << 64) if number >> 63 else number

    def entries(self, name):
        """All entries of a database, in the form of tuples."""
        fields = {}
        for entry, field, value in self.rows(
                name, 'SELECT entry, name, value FROM entry_field ORDER BY entry, position'):
            data = value if isinstance(value, bytes) else value.encode()
            fields.setdefault(entry, []).append((field, data))
        return sorted((source, seqnum, realtime, monotonic, boot, unit, sorted(fields[number]))
                      for number, source, seqnum, realtime, monotonic, boot, unit in self.rows(
                          name, 'SELECT entry.id, seqnum_id, seqnum, realtime, monotonic, boot_id,'
                          ' unit FROM entry JOIN source ON source.id = source'
                          ' JOIN boot ON boot.id = boot'))

    def wanted(self, *options):
        """The same as -o json-stable prints them."""
        wanted = []
        for line in self.run('-o', 'json-stable', *options).out.splitlines():
            e = json.loads(line)
            fields = [(name, json_stable.value_bytes(v)) for name, values in e['fields'].items()
                      for v in values]
            unit = e['fields'].get('_SYSTEMD_UNIT', [{}])[0].get('text')
            wanted.append((e['seqnum_id'], self.signed(e['seqnum']),
                           self.signed(e['realtime_usec']), self.signed(e['monotonic_usec']),
                           e['boot_id'], unit, sorted(fields)))
        return sorted(wanted)

    def test_holds_what_is_printed(self):
        want = self.wanted()
        for jobs in ('1', '4'):
            r = self.run('--jobs=' + jobs, '--sink=sqlite:' + self.path('db' + jobs))
            self.point('--jobs=%s: it holds what is printed' % jobs, r.status == 0 and
                       self.entries('db' + jobs) == want, r)
        r = self.run('--sink=sqlite:' + self.path('db1'))
        self.point('a second run adds nothing', r.status == 0 and self.entries('db1') == want, r)
        r = self.run('-n', '7', '--sink=sqlite:' + self.path('parts'))
        r = self.run('-r', '--sink=sqlite:' + self.path('parts'))
        self.point('runs over parts add up', r.status == 0 and self.entries('parts') == want, r)
        r = self.run('--sink=sqlite,fields=MESSAGE:' + self.path('few'))
        names = self.rows('few', 'SELECT DISTINCT name FROM entry_field')
        self.point('fields are limited', r.status == 0 and names == [('MESSAGE',)], r)

    def test_indexes(self):
        self.run('--sink=sqlite:' + self.path('indexed'))
        for where, index in (('realtime > 5', 'entry_realtime'),
                             ("unit = 'a' AND realtime > 5", 'entry_unit')):
            plan = self.rows('indexed', 'EXPLAIN QUERY PLAN SELECT * FROM entry WHERE ' + where)
            self.tap.point(index in str(plan), 'entries are found by ' + index, str(plan))

    def test_checkpoint(self):
        """The position of the last entry goes on behind it."""
        name, question = 'going-on', 'SELECT cursor FROM checkpoint ORDER BY position DESC LIMIT 1'
        self.run('-n+20', '--sink=sqlite:' + self.path(name))
        cursor = self.rows(name, question)[0][0]
        rest = self.run('--after-cursor=' + cursor, '-o', 'export').out.count(b'__CURSOR=')
        total = len(self.wanted())
        self.tap.point(rest == total - 20, 'the checkpoint is the last entry',
                       '%d of %d behind it' % (rest, total))
        r = self.run('--after-cursor=' + cursor, '--sink=sqlite:' + self.path(name))
        self.point('going on behind it leaves all of them', r.status == 0 and
                   self.entries(name) == self.wanted(), r)
        sources = self.rows(name, 'SELECT count(*) FROM source')
        self.point('each source has one', self.rows(name, 'SELECT count(*) FROM checkpoint') ==
                   sources, r)

    def test_refused(self):
        r = self.run('--sink=sqlite')
        self.point('a file is needed', r.status == 1 and r.err.endswith(b'a file is needed\n'), r)
        db = sqlite3.connect(self.path('foreign'))
        db.execute('CREATE TABLE entry (x)')
        db.commit()
        db.close()
        r = self.run('--sink=sqlite:' + self.path('foreign'))
        self.point('no database of others', r.status == 1 and
                   r.err.endswith(b"it is another program's database\n"), r)
        db = sqlite3.connect(self.path('later'))
        db.executescript('CREATE TABLE x (y); PRAGMA application_id = 0x6a73636e;'
                         'PRAGMA user_version = 2')
        db.close()
        r = self.run('--sink=sqlite:' + self.path('later'))
        self.point('no other version', r.status == 1 and
                   r.err.endswith(b'its schema is of version 2, not 1\n'), r)
        with open(self.path('text'), 'w', encoding='ascii') as f:
            f.write('text\n' * 1000)
        r = self.run('--sink=sqlite:' + self.path('text'))
        self.point('no database', r.status == 1 and b'not a database' in r.err, r)

    def test_killed(self):
        """Killed at random points, it holds whole entries; a last run leaves each of them once."""
        want, chance = self.wanted(), random.Random(6)
        keys = {str(w) for w in want}
        good, most = True, 0.0
        for i in range(KILLS):
            name = 'killed%d' % (i % 4)
            begin = time.monotonic()
            done = subprocess.Popen([self.jscan, '-D', self.sample, '--sink=sqlite:' +
                                     self.path(name)], env={**os.environ, **self.environment})
            if i < 2:
                done.wait()
                most = max(most, time.monotonic() - begin)
                continue
            time.sleep(chance.random() * most)
            done.send_signal(signal.SIGKILL)
            done.wait()
            tables = self.rows(name, "SELECT count(*) FROM sqlite_master WHERE name = 'field'")
            if tables != [(0,)]:
                held = [str(e) for e in self.entries(name)]
                good &= len(held) == len(set(held)) and set(held) <= keys
        self.tap.point(good, 'killed %d times, it holds whole entries' % (KILLS - 2))
        for i in range(4):
            r = self.run('--sink=sqlite:' + self.path('killed%d' % i))
            self.point('a last run completes it', r.status == 0 and
                       self.entries('killed%d' % i) == want, r)


def main():
    jscan, sample, module = map(os.path.abspath, sys.argv[1:4])
    with tempfile.TemporaryDirectory() as scratch:
        tests = Sqlite(jscan, sample, module, os.path.realpath(scratch))
        for name in sorted(dir(tests)):
            if name.startswith('test_'):
                getattr(tests, name)()
    return tests.tap.end()


if __name__ == '__main__':
    sys.exit(main())
