# SPDX-License-Identifier: MIT
"""Charts, drawn by gnuplot where it is installed."""
import os
import shutil
import subprocess

HEAD = '''set terminal svg size %(width)d,420 font "sans,12" background "white"
set output "%(path)s"
set title "%(title)s"
set key outside right top
set grid ytics
%(log)s
'''
BARS = '''set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8
set boxwidth 0.9
set xtics rotate by -20
set yrange [%(low)g:*]
'''


def _quoted(text):
    """Text inside gnuplot's double quotes."""
    return '"%s"' % text.replace('\\', '').replace('"', "'").replace('_', '\\_')


def _bars(chart):
    """Data and commands for bars."""
    names = list(chart['series'])
    rows = []
    for i, label in enumerate(chart['labels']):
        values = [chart['series'][n][i] for n in names]
        rows.append(' '.join([_quoted(label)] + ['%.6g' % v if v else 'NaN' for v in values]))
    data = '$data << END\n%s\nEND\n' % '\n'.join(rows)
    plots = ['$data using %d:xtic(1) title %s' % (i + 2, _quoted(n)) for i, n in enumerate(names)]
    values = [v for s in chart['series'].values() for v in s if v]
    low = min(values) / 2 if chart['log'] else 0
    return BARS % {'low': low} + data + 'plot ' + ', '.join(plots)


def _lines(chart):
    """Data and commands for lines."""
    data, plots = '', []
    for i, (name, points) in enumerate(chart['series'].items()):
        data += '$s%d << END\n%s\nEND\n' % (i, '\n'.join('%.6g %.6g' % p for p in points))
        plots.append('$s%d using 1:2 with linespoints lw 2 title %s' % (i, _quoted(name)))
    return 'set yrange [0:*]\n' + data + 'plot ' + ', '.join(plots)


def draw(chart, folder):
    """Draws one; its file's name, or None without gnuplot."""
    if not shutil.which('gnuplot') or not chart['series']:
        return None
    name = chart['name'] + '.svg'
    axis = 'y' if chart['kind'] == 'bars' else 'x'
    script = HEAD % {'path': os.path.join(folder, name), 'title': chart['title'],
                     'width': 1000 if chart['kind'] == 'bars' else 760,
                     'log': 'set logscale ' + axis if chart['log'] else ''}
    script += _bars(chart) if chart['kind'] == 'bars' else _lines(chart)
    subprocess.run(['gnuplot'], input=script.encode(), check=True)
    return name
