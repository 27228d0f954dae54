# SPDX-License-Identifier: MIT
"""Are outputs equal? All bytes count; JSON is compared with each entry's members in order, since
journalctl's order of them is random."""
import hashlib
import re
import subprocess

from measure.programs import ENVIRONMENT

STRING = rb'"(?:[^"\\]|\\.)*"'
VALUE = rb'(?:' + STRING + rb'|null|\[[0-9,]*\])'
MEMBER = re.compile(STRING + rb':(?:' + VALUE + rb'|\[(?:' + VALUE + rb',?)*\])')


def sorted_line(line):
    """A line of JSON with its members in byte order, if that is what it is."""
    members = MEMBER.findall(line[1:-2])
    if b'{' + b','.join(members) + b'}\n' == line:
        return b'{' + b','.join(sorted(members)) + b'}\n'
    return line


def fingerprint(command):
    """What stands for the output of a command: a hash, and how many bytes it has."""
    digest, size = hashlib.sha256(), 0
    by_line = 'json' in command
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=ENVIRONMENT) as p:
        for piece in p.stdout if by_line else iter(lambda: p.stdout.read(1 << 20), b''):
            digest.update(sorted_line(piece) if by_line else piece)
            size += len(piece)
    return digest.hexdigest()[:32], size


class Equality:
    """Compares outputs with those of jscan and remembers what was found."""

    def __init__(self):
        self.rows, self.failed = [], False

    def check(self, suite, archive, case, programs, words):
        """Compares; returns how many bytes the first program prints."""
        first = None
        for program in programs:
            command = program.command(archive, words)
            if command is None:
                continue
            mark = fingerprint(command)
            first = first or mark
            same = mark == first
            self.rows.append({'suite': suite, 'archive': archive.name, 'case': case,
                              'program': program.name, 'sha256': mark[0], 'bytes': mark[1],
                              'equal': same})
            # Other releases of journalctl may print something else: that is told, no failure.
            if not same and not program.is_other_release:
                self.failed = True
        return first[1] if first else 0
