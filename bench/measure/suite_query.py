# SPDX-License-Identifier: MIT
"""query: the index queries of bench/query.py, cold and warm."""
import query

from measure import process
from measure.figures import in_turns, spread

UNIT = 'nginx.service'


def commands(c, archive, name, words):
    """Each program's command for a query: journalctl has no --status."""
    for program in [c.jscan] + c.peers:
        own = words if program is c.jscan else query.theirs_of(name, words, UNIT)
        yield program, program.command(archive, own)


def run(c):
    """All queries of the archive with many boots."""
    archive = c.archives.get('boots')
    source = ['-D', archive.path, '-q', '--no-pager']
    for name, words in query.make_queries(c.jscan.path, source, UNIT).items():
        pairs = list(commands(c, archive, name, words))
        answers = [query.run(command).stdout for _, command in pairs]
        for (program, _), answer in zip(pairs, answers):
            same = query.equal(name, answers[0], answer)
            c.equality.rows.append({'suite': 'query', 'archive': archive.name, 'case': name,
                                    'program': program.name, 'bytes': len(answer), 'equal': same})
            if not same and not program.is_other_release:
                c.equality.failed = True
        c.notes.setdefault('query', {})[name] = process.statistics_of(pairs[0][1])
        by_name = {program.name: command for program, command in pairs}
        for state in 'cold', 'warm':
            def measure(program, turn, name=name, state=state, by_name=by_name):
                if state == 'cold':
                    archive.evict()
                    process.timed([program.path, '--version'])
                c.raw.add('query', archive.name, name, program.name, turn,
                          process.timed(by_name[program.name]), state=state)
            in_turns([program for program, _ in pairs], c.rounds_cold, measure)
    c.say('query: all')


def report(c, suite):
    """A table."""
    if not c.raw.cases(suite=suite):
        return []
    lines = ['### query', '', '| query | | program | ms | times jscan | reads | read MiB |',
             '|---|---|---|---|---|---|---|']
    for name in c.raw.cases(suite=suite):
        stats = c.notes['query'].get(name, {})
        for state in 'cold', 'warm':
            where = {'suite': suite, 'case': name, 'state': state}
            for program in c.raw.programs(**where):
                ours = program == c.jscan.name
                ms = [1000 * v for v in c.raw.values('seconds', program=program, **where)]
                lines.append('| %s | %s | %s | %s | %s | %s | %s |' % (
                    name, state, program, spread(ms, '%.1f'),
                    '' if ours else spread(c.raw.ratios(c.jscan.name, program, **where), '%.1f'),
                    stats.get('reads', '–') if ours else '',
                    '%.2f' % (stats.get('bytes_read', 0) / (1 << 20)) if ours else ''))
    return lines + ['']


def charts(c, suite):
    """Milliseconds, cold."""
    cases = c.raw.cases(suite=suite)
    if cases:
        yield {'name': 'query-cold', 'kind': 'bars', 'title': 'Index queries, cold: milliseconds',
               'log': True, 'labels': cases,
               'series': {p: [1000 * c.raw.median('seconds', suite=suite, state='cold', case=x,
                                                  program=p) for x in cases]
                          for p in c.raw.programs(suite=suite)}}
