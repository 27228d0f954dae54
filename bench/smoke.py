#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests what measuring rests on, on tiny archives.

  smoke.py [--suites BUILD] GEN FLOOR JSCAN [JOURNALCTL]

The generator gives the same bytes for the same options; its files verify; the bare program prints
what jscan prints; and so does a journalctl, where there is one. With --suites all suites of
bench/run run on tiny archives, too, with the programs of a build folder, and files.py on some
thousand files; else it asks 200 of them with few descriptors. Exit status 1 if something is not so.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

ARCHIVES = {
    'bulk': ['--entries=3000', '--files=8'],
    'interleaved': ['--entries=2000', '--files=10'],
    'boots': ['--entries=2000', '--files=20', '--boots=12'],
    'small': ['--entries=1600'],
}
ENVIRONMENT = dict(os.environ, TZ='UTC', LC_ALL='C.UTF-8', TERM='dumb')


def output(*command):
    """What a command prints; it must succeed."""
    r = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
    if r.returncode != 0:
        raise AssertionError('%s ended with %d: %s' % (' '.join(command), r.returncode,
                                                       r.stderr.decode(errors='replace')[-500:]))
    return r.stdout


def contents(folder):
    """The files of a folder: name and bytes."""
    files = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), 'rb') as f:
            files[name] = f.read()
    return files


def check(condition, text):
    """Complains unless the condition holds."""
    if not condition:
        raise AssertionError(text)


def check_archive(layout, folder, programs):
    """All claims about one archive."""
    gen, floor, jscan, journalctl = programs
    one, two = os.path.join(folder, layout), os.path.join(folder, layout + '-again')
    for path in one, two:
        output(gen, *ARCHIVES[layout], layout, path)
    check(contents(one) == contents(two), layout + ' differs from itself')
    shutil.rmtree(two)
    output(jscan, '--verify', '-q', '-D', one)
    for mode in 'cat', 'export':
        ours = output(jscan, '-q', '-D', one, '-o', mode)
        check(ours.count(b'\n') > 1500, '%s: too little %s' % (layout, mode))
        if layout != 'small': # which has files that are not compact
            check(ours == output(floor, mode, one), '%s: floor prints other %s' % (layout, mode))
    if journalctl:
        output(journalctl, '--verify', '-q', '-D', one)
        for mode in 'short-precise', 'verbose':
            options = ('-q', '--no-pager', '-D', one, '-o', mode)
            check(output(jscan, *options) == output(journalctl, *options),
                  '%s: journalctl prints other %s' % (layout, mode))


def check_replay(build, folder):
    """Replays the trace of a scan: all blocks are read once where memory is large enough."""
    archive, trace = os.path.join(folder, 'interleaved'), os.path.join(folder, 'trace')
    output(os.path.join(build, 'cli', 'jscan'), '-q', '-D', archive, '-o', 'cat', '--trace', trace)
    table = output(os.path.join(build, 'bench', 'replay'), '--rounds=1', trace).decode()
    rows = [[cell.strip() for cell in line.split('|')[1:-1]] for line in table.splitlines()]
    check(len(rows) == 13 and all(len(row) == 10 for row in rows), 'replay: not 11 rows')
    check(len({row[7] for row in rows[2:5]}) == 1, 'replay: methods read different amounts')
    check(all(float(row[7]) > 1 and float(row[9]) > 1 for row in rows[2:]),
          'replay: too little is read')


def check_suites(build, folder, journalctl):
    """Runs all suites and looks at what they leave."""
    run = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'run')
    peers = ['--peer=' + journalctl] if journalctl else []
    output(sys.executable, run, '--tiny', '--rounds=1', '--rounds-cold=1', '--build=' + build,
           '--results=' + folder, '--name=all', '--archives=' + folder + '/archives', *peers)
    results = contents(os.path.join(folder, 'all'))
    for suite in 'warm', 'cold', 'boot', 'query', 'scale', 'micro', 'replay':
        check(('### ' + suite).encode() in results['summary.md'], suite + ' has no summary')
        check(('"suite": "%s"' % suite).encode() in results['raw.jsonl'], suite + ' has no data')
    json.loads(results['setup.json'])
    if shutil.which('gnuplot'):
        check(sum(name.endswith('.svg') for name in results) >= 9, 'charts are missing')


def check_growth(gen, jscan, *options):
    """Queries of many small files give the same with 64 descriptors, and do not cost more each."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'files.py')
    output(sys.executable, '-B', script, *options, gen, jscan)


def main():
    words = sys.argv[1:]
    build = words[1] if words[0] == '--suites' else None
    words = words[2:] if build else words
    programs = words[:3] + [words[3] if len(words) > 3 else shutil.which('journalctl')]
    with tempfile.TemporaryDirectory() as folder:
        for layout in ARCHIVES:
            check_archive(layout, folder, programs)
            print('ok', layout, '' if programs[3] else '(without a journalctl)')
        check_replay(os.path.dirname(os.path.dirname(programs[0])), folder)
        print('ok replay')
        check_growth(programs[0], programs[2], '--sizes=200', '--rounds=1')
        print('ok descriptors')
        if build:
            check_suites(build, folder, programs[3])
            print('ok suites')
            check_growth(programs[0], programs[2], '--sizes=625,2500', '--most=2.5')
            print('ok growth')


if __name__ == '__main__':
    main()
