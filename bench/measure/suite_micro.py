# SPDX-License-Identifier: MIT
"""micro: the parts that a scan is made of, by bench/micro."""
import json
import subprocess

from measure.figures import spread


def run(c):
    """Runs it as often as there are rounds."""
    for turn in range(c.rounds):
        words = [c.micro] + (['--quick'] if c.tiny else [])
        r = subprocess.run(words, stdout=subprocess.PIPE, check=True)
        for line in r.stdout.splitlines():
            one = json.loads(line)
            c.raw.add('micro', '', one.pop('name'), 'micro', turn, one)
    c.say('micro: all')


def report(c, suite):
    """A table."""
    if not c.raw.cases(suite=suite):
        return []
    lines = ['### micro', '', '| part | ns an operation | bytes/ns |', '|---|---|---|']
    for case in c.raw.cases(suite=suite):
        where = {'suite': suite, 'case': case}
        rate = c.raw.values('bytes_per_ns', **where)
        lines.append('| %s | %s | %s |' % (case, spread(c.raw.values('ns', **where), '%.2f'),
                                           spread(rate, '%.2f') if any(rate) else ''))
    return lines + ['']


def charts(_c, _suite):
    """None: the parts have nothing in common."""
    return []
