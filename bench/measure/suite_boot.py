# SPDX-License-Identifier: MIT
"""boot: what a machine asks its log right after it has started. Nothing is in memory, each
question is a new process; what counts is when the first line comes, and what it costs others:
bytes from the disk, and page cache taken. Alone, and while another process reads the disk."""
import contextlib

from measure import process
from measure.figures import in_turns, spread
from measure.programs import Program

UNIT = 'nginx.service'
QUESTIONS = {
    'last 10 lines': ['-n', '10'],
    'status of a unit': ['-u', UNIT, '-b', '-n', '10'],
    "boot's errors": ['-b', '-p', 'err'],
    'list of boots': ['--list-boots'],
    'current boot': ['-b'],
}
METHODS = ('uring', 'threads', 'sync')
MIB = 1 << 20


def run(c):
    """All questions to all programs, alone and not."""
    archive, other = c.archives.get('boots'), c.archives.get('bulk')
    programs = [Program('jscan ' + m, c.jscan.path, c.jscan.options + ['--io=' + m])
                for m in METHODS] + c.peers
    for case, words in QUESTIONS.items():
        c.equality.check('boot', archive, case, programs, words)
    for load in 'alone', 'with a reader':
        with process.Competitor(other) if load != 'alone' else contextlib.nullcontext():
            for case, words in QUESTIONS.items():
                def measure(program, turn, load=load, case=case, words=words):
                    process.timed([program.path, '--version'])
                    archive.evict()
                    process.timed([program.path, '--version'])
                    result = process.timed_to_first(program.command(archive, words))
                    c.raw.add('boot', archive.name, case, program.name, turn, result, load=load,
                              cached_bytes=archive.cached_bytes())
                in_turns(programs, c.rounds_cold, measure)
        c.say('boot: ' + load)
    for case, words in QUESTIONS.items():
        for program in programs[:len(METHODS)]:
            archive.evict()
            c.notes.setdefault('boot', {}).setdefault(case, {})[program.name] = \
                process.statistics_of(program.command(archive, words))


def report(c, suite):
    """A table for each load."""
    lines = []
    if not c.raw.cases(suite=suite):
        return lines
    for load in 'alone', 'with a reader':
        lines += ['### %s, %s' % (suite, load), '',
                  '| question | program | first byte ms | last byte ms | reads | read MiB | '
                  'from disk MiB | page cache MiB | peak MiB |',
                  '|---|---|---|---|---|---|---|---|---|']
        for case in c.raw.cases(suite=suite, load=load):
            where = {'suite': suite, 'load': load, 'case': case}
            for program in c.raw.programs(**where):
                one = dict(where, program=program)
                stats = c.notes.get('boot', {}).get(case, {}).get(program, {})
                lines.append('| %s | %s | %s | %s | %s | %s | %.1f | %.1f | %.0f |' % (
                    case, program,
                    spread([1000 * v for v in c.raw.values('first_seconds', **one)], '%.1f'),
                    spread([1000 * v for v in c.raw.values('seconds', **one)], '%.1f'),
                    stats.get('reads', '–'),
                    '%.1f' % (stats['bytes_read'] / MIB) if 'bytes_read' in stats else '–',
                    c.raw.median('disk_bytes', **one) / MIB,
                    c.raw.median('cached_bytes', **one) / MIB,
                    max(c.raw.values('peak_bytes', **one)) / MIB))
        lines.append('')
    return lines


def charts(c, suite):
    """When the first byte came."""
    for load in 'alone', 'with a reader':
        cases = c.raw.cases(suite=suite, load=load)
        if cases:
            yield {'name': 'boot-' + load.split(' ')[-1], 'kind': 'bars', 'log': True,
                   'title': 'Cold, %s: milliseconds to the first byte' % load, 'labels': cases,
                   'series': {p: [1000 * (c.raw.median('first_seconds', suite=suite, load=load,
                                                       case=x, program=p) or 0) for x in cases]
                              for p in c.raw.programs(suite=suite, load=load)}}
