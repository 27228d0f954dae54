# SPDX-License-Identifier: MIT
"""What is kept of a run: the set-up and the summary."""
import json
import os
import platform
import re
import subprocess
import time

from measure.charts import draw


def _first_match(path, pattern):
    """The first group of a pattern in a file, or None."""
    try:
        with open(path, encoding='utf-8') as f:
            m = re.search(pattern, f.read(), re.MULTILINE)
        return m.group(1) if m else None
    except OSError:
        return None


def _file_system(path):
    """The type of the file system that a path is on."""
    best, kind = '', None
    with open('/proc/mounts', encoding='utf-8') as f:
        for line in f:
            _, mount, fs = line.split()[:3]
            if os.path.realpath(path).startswith(mount) and len(mount) >= len(best):
                best, kind = mount, fs
    return kind


def set_up(c, words):
    """The machine, the programs, the options. No path of the machine is in it."""
    revision = subprocess.run(['git', '-C', c.root, 'describe', '--always', '--dirty'],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return {
        'date': time.strftime('%Y-%m-%d %H:%M', time.gmtime()) + ' UTC',
        'jscan': revision.stdout.decode().strip() or 'unknown',
        'options': [re.sub(r'=?/\S*/', '=', w) for w in words],
        'kernel': platform.release(), 'machine': platform.machine(),
        'processor': _first_match('/proc/cpuinfo', r'^model name\s*:\s*(.*)$'),
        'processors': len(os.sched_getaffinity(0)),
        'memory_kib': int(_first_match('/proc/meminfo', r'^MemTotal:\s*(\d+)') or 0),
        'file_system': _file_system(c.archives.folder),
        'load_before': c.load_before, 'load_after': os.getloadavg()[0],
        'programs': [p.name for p in [c.jscan, c.jscan_one, c.floor] + c.peers],
        'archives': [a.describe() for a in c.archives.known.values()],
        'rounds': c.rounds, 'rounds_cold': c.rounds_cold,
    }


def _equality(c):
    """Which outputs were not equal."""
    rows = c.equality.rows
    different = [r for r in rows if not r['equal']]
    lines = ['%d outputs were compared with those of jscan; %d differ.' % (
        len(rows), len(different)), '']
    for r in different:
        lines.append('- %s, %s, %s: %s prints something else' % (
            r['suite'], r['archive'], r['case'], r['program']))
    return lines + [''] if different else lines


def load(c):
    """Takes the set-up, notes and comparisons of a run that has ended. The set-up is returned."""
    with open(os.path.join(c.folder, 'setup.json'), encoding='utf-8') as f:
        setup = json.load(f)
    c.notes, c.equality.rows = setup.pop('notes'), setup.pop('equality')
    c.remark = c.remark or setup.get('remark', '')
    c.rounds, c.rounds_cold = setup['rounds'], setup['rounds_cold']
    return setup


def write(c, suites, setup):
    """Writes setup.json, summary.md and the charts."""
    with open(os.path.join(c.folder, 'setup.json'), 'w', encoding='utf-8') as f:
        json.dump({**setup, 'remark': c.remark, 'notes': c.notes, 'equality': c.equality.rows}, f,
                  indent=1)
        f.write('\n')
    lines = ['# %s' % os.path.basename(c.folder), '',
             '%s; jscan %s; %s, %d processors; Linux %s; %s. Load before: %.1f, after: %.1f.' % (
                 setup['date'], setup['jscan'], setup['processor'] or setup['machine'],
                 setup['processors'], setup['kernel'], setup['file_system'], setup['load_before'],
                 setup['load_after']), '']
    if c.remark:
        lines += [c.remark, '']
    lines += ['Medians, with the smallest and the largest of %d rounds (cold: %d) in turns. "times '
              'jscan" is the median of the ratios of the pairs.' % (c.rounds, c.rounds_cold), '']
    lines += _equality(c) + ['']
    for name, module in suites:
        for chart in module.charts(c, name):
            drawn = draw(chart, c.folder)
            if drawn:
                lines += ['![%s](%s)' % (chart['title'], drawn), '']
            else:
                lines += ['(No chart "%s": gnuplot is not installed.)' % chart['title'], '']
        lines += module.report(c, name)
    with open(os.path.join(c.folder, 'summary.md'), 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines).rstrip('\n') + '\n')
