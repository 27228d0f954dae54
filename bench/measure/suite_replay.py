# SPDX-License-Identifier: MIT
"""replay: traces of scans and queries, replayed in other sizes and by other methods. The defaults
of block size, budget and read-ahead come from these tables."""
import os
import subprocess
import tempfile

from measure import process

TRACES = {
    'export of bulk': ('bulk', ['-o', 'export']),
    'export of interleaved': ('interleaved', ['-o', 'export']),
    'a unit of the current boot': ('boots', ['-u', 'nginx.service', '-b', '-n', '10']),
    'list of boots': ('boots', ['--list-boots']),
}
THINK = '150' # nanoseconds for a KiB, about what cat takes


def run(c):
    """Takes each trace, then replays it with the files out of memory at the start."""
    replay = os.path.join(os.path.dirname(c.micro), 'replay')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'trace')
        for case, (layout, words) in TRACES.items():
            archive = c.archives.get(layout)
            process.timed(c.jscan_one.command(archive, words) + ['--trace=' + path])
            table = subprocess.run([replay, '--cold', '--think=' + THINK,
                                    '--rounds=%d' % c.rounds_cold, path], check=True,
                                   stdout=subprocess.PIPE).stdout.decode().splitlines()
            c.notes.setdefault('replay', {})[case] = table
            names = [cell.strip() for cell in table[0].split('|')[1:-1]]
            for row in table[2:]:
                cells = [cell.strip() for cell in row.split('|')[1:-1]]
                values = {n: v if n == 'method' else float(v) for n, v in zip(names, cells)}
                c.raw.add('replay', archive.name, case, 'replay', 0, values)
            c.say('replay: ' + case)


def report(c, _suite):
    """The tables as they are."""
    lines = []
    for case, table in c.notes.get('replay', {}).items():
        lines += ['### replay: %s' % case, ''] + table + ['']
    return lines


def charts(_c, _suite):
    """None."""
    return []
