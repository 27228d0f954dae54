# SPDX-License-Identifier: MIT
"""What the tests of the command share: running programs, TAP, putting JSON in order."""
import os
import re
import subprocess
import sys
import tempfile

# The environment that expectations are recorded in.
ENVIRONMENT = {
    'PATH': '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
    'TZ': 'UTC',
    'LC_ALL': 'C.UTF-8',
    'TERM': 'dumb',
}
# What sanitizer builds are told from outside; findings get an exit status of their own.
PASSED_ON = ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS', 'TSAN_OPTIONS')
SANITIZER_STATUS = 99


class Result:
    """How a program ended; status is negative for a signal, None if it took too long."""

    def __init__(self, status, out, err):
        self.status = status
        self.out = out
        self.err = err


def run(command, timeout=60, stdin=subprocess.DEVNULL, cwd=None, environment=None):
    """Runs a program in the fixed environment."""
    env = dict(ENVIRONMENT)
    for name in PASSED_ON:
        env[name] = '%s:exitcode=%d' % (os.environ.get(name, ''), SANITIZER_STATUS)
    env.update(environment or {})
    try:
        r = subprocess.run(command, env=env, stdin=stdin, capture_output=True, timeout=timeout,
                           cwd=cwd, check=False)
    except subprocess.TimeoutExpired as e:
        return Result(None, e.stdout or b'', e.stderr or b'')
    return Result(r.returncode, r.stdout, r.stderr)


class Tap:
    """Prints test points."""

    def __init__(self):
        self.count = 0
        self.failed = 0

    def note(self, text):
        for line in text.rstrip('\n').split('\n'):
            print('# ' + line)

    def point(self, good, name, detail='', later=None):
        """One point. LATER names what brings a behaviour that is not there yet."""
        self.count += 1
        name = name.replace('#', '')
        line = '%sok %d - %s' % ('' if good else 'not ', self.count, name)
        if later is not None:
            line += ' # todo ' + later
        print(line, flush=True)
        if bool(good) != (later is None):
            self.failed += 1
        if detail and (not good) and later is None:
            self.note(detail)

    def end(self):
        print('1..%d' % self.count)
        return 1 if self.failed else 0


class Suite:
    """Tests of the command over the sample archive, with a scratch folder: methods test_*."""

    def __init__(self, jscan, sample, scratch):
        self.tap = Tap()
        self.jscan = jscan
        self.sample = sample
        self.scratch = scratch

    def run(self, *arguments, **more):
        """Runs the command in the fixed environment."""
        return run([self.jscan] + list(arguments), **more)

    def point(self, name, good, r):
        """One test point, with what the program said if it fails."""
        self.tap.point(good, name, 'status %s\n%s\n%s' % (
            r.status, r.out[-500:].decode(errors='replace'),
            r.err[-1000:].decode(errors='replace')))

    @classmethod
    def main(cls):
        """Runs all tests, with JSCAN and SAMPLE from the command line. Returns the status."""
        jscan, sample = sys.argv[1:3]
        with tempfile.TemporaryDirectory() as scratch:
            suite = cls(os.path.abspath(jscan), os.path.abspath(sample),
                        os.path.realpath(scratch))
            for name in sorted(dir(suite)):
                if name.startswith('test_'):
                    getattr(suite, name)()
        return suite.tap.end()


def skip_all(reason):
    """Ends a program that has nothing to test here."""
    print('1..0 # SKIP ' + reason)
    sys.exit(0)


STRING = rb'"(?:[^"\\]|\\.)*"'
VALUE = rb'(?:' + STRING + rb'|null|\[[0-9,]*\])'
MEMBER = re.compile(STRING + rb':(?:' + VALUE + rb'|\[(?:' + VALUE + rb',?)*\])')


def json_sorted(data):
    """Entries in JSON, one a line, the members of each in byte order; all other bytes are kept."""
    lines = []
    for line in data.split(b'\n'):
        members = MEMBER.findall(line[1:-1])
        if b'{' + b','.join(members) + b'}' == line:
            line = b'{' + b','.join(sorted(members)) + b'}'
        lines.append(line)
    return b'\n'.join(lines)


def difference(want, got):
    """The first line in which two outputs differ, for people."""
    a, b = want.split(b'\n'), got.split(b'\n')
    for number, (x, y) in enumerate(zip(a, b)):
        if x != y:
            return 'line %d: wanted %r, got %r' % (number + 1, x[:300], y[:300])
    if len(a) != len(b):
        return 'wanted %d lines, got %d' % (len(a), len(b))
    return 'equal'
