# SPDX-License-Identifier: MIT
"""scale: what the cost depends on. Entries, files, how many files overlap, and processors."""
import os

from measure import process
from measure.figures import in_turns, spread
from measure.programs import Program

MODES = {'cat': ['-o', 'cat'], 'export': ['-o', 'export']}


def plans(c):
    """What is varied: name, unit, and for each value an archive."""
    e = c.scale_entries
    fewer = c.tiny
    yield 'entries', [(n, c.archives.get('bulk', entries=n, files=20))
                      for n in ((e // 2, e) if fewer else (e // 8, e // 4, e // 2, e))]
    yield 'files', [(n, c.archives.get('bulk', entries=e, files=n))
                    for n in ((2, 8) if fewer else (2, 20, 100, 400))]
    yield 'overlapping files', [(n, c.archives.get('interleaved', entries=e, files=n))
                                for n in ((2, 8) if fewer else (1, 10, 100, 300))]


def run(c):
    """All plans, then the number of jobs."""
    for what, archives in plans(c):
        for value, archive in archives:
            for mode, words in MODES.items():
                programs = [p for p in (c.jscan_one, c.floor) if p.command(archive, words)]
                c.equality.check('scale', archive, mode, programs, words)

                def measure(program, turn, what=what, value=value, archive=archive, mode=mode):
                    c.raw.add('scale', archive.name, mode, program.name, turn,
                              process.timed(program.command(archive, MODES[mode])), vary=what,
                              value=value, entries=archive.made['entries'])
                in_turns(programs, c.rounds, measure)
        c.say('scale: ' + what)
    run_jobs(c)


def run_jobs(c):
    """One archive with more and more jobs."""
    archive = c.archives.get('bulk', entries=c.scale_entries, files=20)
    processors = len(os.sched_getaffinity(0))
    counts = sorted({1, 2, processors, 2 * processors})
    for mode, words in MODES.items():
        programs = [Program('jscan', c.jscan.path, c.options + ['--jobs=%d' % n]) for n in counts]
        c.equality.check('scale', archive, mode, programs, words)

        def measure(program, turn, mode=mode, words=words):
            c.raw.add('scale', archive.name, mode, program.name, turn,
                      process.timed(program.command(archive, words)), vary='jobs',
                      value=int(program.options[-1][7:]), entries=archive.made['entries'])
        in_turns(programs, c.rounds, measure)


def report(c, suite):
    """Microseconds for an entry, by what was varied."""
    lines = []
    for what in dict.fromkeys(r['vary'] for r in c.raw.records if r['suite'] == suite):
        lines += ['### scale: %s' % what, '', '| %s | form | program | µs an entry | peak MiB |' %
                  what, '|---|---|---|---|---|']
        rows = dict.fromkeys((r['value'], r['case'], r['program']) for r in c.raw.records
                             if r['suite'] == suite and r['vary'] == what)
        for value, mode, program in rows:
            where = {'suite': suite, 'vary': what, 'value': value, 'case': mode,
                     'program': program}
            entries = c.raw.median('entries', **where)
            lines.append('| %d | %s | %s | %s | %.0f |' % (
                value, mode, program,
                spread([1e6 * v / entries for v in c.raw.values('seconds', **where)]),
                max(c.raw.values('peak_bytes', **where)) / (1 << 20)))
        lines.append('')
    return lines


def charts(c, suite):
    """The same as lines."""
    for what in dict.fromkeys(r['vary'] for r in c.raw.records if r['suite'] == suite):
        series = {}
        for r in c.raw.records:
            if r['suite'] == suite and r['vary'] == what:
                where = {'suite': suite, 'vary': what, 'value': r['value'], 'case': r['case'],
                         'program': r['program']}
                series.setdefault('%s %s' % (r['program'], r['case']), {})[r['value']] = \
                    1e6 * c.raw.median('seconds', **where) / r['entries']
        yield {'name': 'scale-' + what.replace(' ', '-'), 'kind': 'lines', 'labels': [],
               'title': 'Microseconds an entry, by ' + what, 'log': what != 'jobs',
               'series': {k: sorted(v.items()) for k, v in series.items()}}
