# SPDX-License-Identifier: MIT
"""warm and cold: whole archives in every form, from the page cache or from the disk."""
from measure import process
from measure.figures import in_turns, spread

CASES = {
    'cat': ['-o', 'cat'],
    'export': ['-o', 'export'],
    'short': ['-o', 'short'],
    'verbose': ['-o', 'verbose'],
    'json': ['-o', 'json', '-n', '200000'],
    'grep': ['-o', 'short', '-g', 'there is no such text anywhere'],
    'tail': ['-o', 'short', '-n', '100000'],
}
COLD_CASES = ('cat', 'export')
MIB = 1 << 20


def programs_of(c, archive, words):
    """The programs that can do this."""
    everyone = [c.jscan, c.jscan_one, c.floor] + c.peers
    return [p for p in everyone if p.command(archive, words)]


def run_warm(c):
    """All forms of bulk, then the two that the bare program knows of interleaved, then a pipe."""
    for layout, cases in ('bulk', CASES), ('interleaved', COLD_CASES):
        archive = c.archives.get(layout)
        for case in cases:
            words = CASES[case]
            programs = programs_of(c, archive, words)
            size = c.equality.check('warm', archive, case, programs, words)

            def measure(program, turn, archive=archive, case=case, words=words, size=size):
                c.raw.add('warm', archive.name, case, program.name, turn,
                          process.timed(program.command(archive, words)), output_bytes=size)
            in_turns(programs, c.rounds, measure)
            c.say('warm: %s of %s' % (case, archive.name))
        record_calls(c, 'warm', archive)
    run_pipe(c)


def record_calls(c, suite, archive):
    """In runs of their own: system calls, and jscan's own account."""
    words = CASES['cat']
    statistics = process.statistics_of(c.jscan.command(archive, words))
    c.notes.setdefault('statistics', {})[archive.name] = statistics
    for program in programs_of(c, archive, words):
        calls = process.system_calls(program.command(archive, words))
        if calls is not None:
            c.raw.add(suite, archive.name, 'system calls', program.name, 0,
                      {'calls': sum(calls.values()), 'by_name': calls})


def run_pipe(c):
    """export into a pipe that cat reads, against the same number of bytes from a bare writer."""
    archive = c.archives.get('bulk')
    command = c.jscan.command(archive, CASES['export'])
    size = next(r['output_bytes'] for r in c.raw.records
                if r['suite'] == 'warm' and r['case'] == 'export' and
                r['archive'] == archive.name)
    writer = type(c.floor)('bare writer', c.floor.path)
    commands = {c.jscan.name: command, writer.name: [c.floor.path, 'write', str(size)]}

    def measure(program, turn):
        c.raw.add('warm', archive.name, 'export into a pipe', program.name, turn,
                  process.timed_into_cat(commands[program.name]), output_bytes=size)
    in_turns([c.jscan, writer], c.rounds, measure)


def run_cold(c):
    """cat and export from the disk, and all bytes of the files as cat reads them."""
    archive = c.archives.get('bulk')
    files = [str(p) for p in archive.files]
    for case in COLD_CASES:
        words = CASES[case]
        programs = programs_of(c, archive, words)
        c.equality.check('cold', archive, case, programs, words)
        if case == 'cat':
            programs.append(type(c.floor)('cat FILES', 'cat'))

        def measure(program, turn, case=case, words=words):
            command = ['cat'] + files if program.path == 'cat' else \
                program.command(archive, words)
            process.timed([command[0], '--version'])
            archive.evict()
            c.raw.add('cold', archive.name, case, program.name, turn, process.timed(command),
                      cached_bytes=archive.cached_bytes())
        in_turns(programs, c.rounds_cold, measure)
        c.say('cold: %s of %s' % (case, archive.name))


def table(c, suite, archive):
    """Seconds of each program, and how many times those of jscan."""
    lines = []
    for case in [x for x in c.raw.cases(suite=suite, archive=archive) if x != 'system calls']:
        where = {'suite': suite, 'archive': archive, 'case': case}
        for program in c.raw.programs(**where):
            one = dict(where, program=program)
            seconds = c.raw.values('seconds', **one)
            ratio = times = ''
            cpu = c.raw.cpu(program, **where)
            if program != c.jscan.name:
                ratio = spread(c.raw.ratios(c.jscan.name, program, **where), '%.2f')
                times = '%.2f' % (cpu / max(c.raw.cpu(c.jscan.name, **where), 0.001))
            lines.append('| %s | %s | %s | %s | %.2f | %s | %.0f | %.0f |' % (
                case, program, spread(seconds), ratio, cpu, times,
                max(c.raw.values('peak_bytes', **one)) / MIB,
                c.raw.median('disk_bytes', **one) / MIB))
    return ['| case | program | seconds | times jscan | CPU s | times its CPU | peak MiB | '
            'from disk MiB |', '|---|---|---|---|---|---|---|---|'] + lines


def rates(c, suite, archive):
    """How much is done in a second."""
    entries = c.notes.get('statistics', {}).get(archive, {}).get('entries')
    lines = []
    for case in c.raw.cases(suite=suite, archive=archive):
        where = {'suite': suite, 'archive': archive, 'case': case, 'program': c.jscan.name}
        seconds, size = c.raw.median('seconds', **where), c.raw.median('output_bytes', **where)
        if seconds and size is not None:
            per_second = '%.2f' % (entries / seconds / 1e6) \
                if entries and case in ('cat', 'export', 'short', 'verbose') else '–'
            lines.append('| %s | %s | %.0f |' % (case, per_second, size / seconds / 1e6))
    if not lines:
        return []
    return ['', 'Rates of %s:' % c.jscan.name, '',
            '| case | million entries/s | MB/s of output |', '|---|---|---|'] + lines


def calls_table(c, suite, archive):
    """System calls, where they could be counted."""
    where = {'suite': suite, 'archive': archive, 'case': 'system calls'}
    lines = ['| %s | %d |' % (p, c.raw.median('calls', program=p, **where))
             for p in c.raw.programs(**where)]
    return ['', 'System calls of `-o cat`:', '', '| program | calls |',
            '|---|---|'] + lines if lines else []


def report(c, suite):
    """The tables of all archives."""
    lines = []
    for archive in dict.fromkeys(r['archive'] for r in c.raw.records if r['suite'] == suite):
        lines += ['### %s, %s' % (suite, archive), '']
        lines += table(c, suite, archive) + rates(c, suite, archive)
        lines += calls_table(c, suite, archive) + ['']
    return lines


def charts(c, suite):
    """Seconds by case, one bar for each program."""
    for archive in dict.fromkeys(r['archive'] for r in c.raw.records if r['suite'] == suite):
        cases = [x for x in c.raw.cases(suite=suite, archive=archive) if x != 'system calls']
        programs = c.raw.programs(suite=suite, archive=archive)
        yield {'name': '%s-%s' % (suite, archive.split('-')[0]), 'kind': 'bars',
               'title': '%s, %s: seconds' % (archive, suite), 'log': True, 'labels': cases,
               'series': {p: [c.raw.median('seconds', suite=suite, archive=archive, case=x,
                                           program=p) for x in cases] for p in programs}}
