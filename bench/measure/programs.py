# SPDX-License-Identifier: MIT
"""The programs that are compared: jscan in some set-ups, the bare program, other readers."""
import os
import shutil
import subprocess

ENVIRONMENT = {'PATH': os.environ.get('PATH', '/usr/bin:/bin'), 'TZ': 'UTC',
               'LC_ALL': 'C.UTF-8', 'TERM': 'dumb', 'SYSTEMD_COLORS': '0', 'SYSTEMD_PAGER': ''}
REFERENCE = 262 # the release of systemd whose output jscan gives


class Program:
    """A reader with journalctl's options."""

    def __init__(self, name, path, options=(), release=None):
        self.name, self.path, self.options, self.release = name, path, list(options), release

    def command(self, archive, words):
        """The command line for an archive."""
        return [self.path, '-D', archive.path, '-q', '--no-pager'] + self.options + list(words)

    @property
    def is_other_release(self):
        """Whether it is a journalctl of another release than the one that jscan follows."""
        return self.release not in (None, REFERENCE)


class Floor(Program):
    """The bare program: cat and export only."""

    def command(self, archive, words):
        words = list(words)
        if words not in (['-o', 'cat'], ['-o', 'export']):
            return None
        return [self.path, words[1], archive.path]


def find_peers(paths):
    """Each journalctl among PATHS (by default that of the machine), named by its release."""
    if not paths:
        found = shutil.which('journalctl')
        paths = [found] if found else []
    peers = []
    for path in paths:
        text = subprocess.run([path, '--version'], stdout=subprocess.PIPE, check=True,
                              env=ENVIRONMENT).stdout.decode()
        words = text.split()
        release = int(words[1].split('.')[0]) if len(words) > 1 and words[0] == 'systemd' else 0
        name = 'journalctl %s' % (release or os.path.basename(path))
        if any(p.name == name for p in peers):
            name += ' (%d)' % (len(peers) + 1)
        peers.append(Program(name, path, release=release))
    return peers


def find_built(build, name):
    """A program of the build directory."""
    path = os.path.join(build, name)
    if not os.path.exists(path):
        raise SystemExit('run: %s is not there; build first (ninja -C %s), or name another with '
                         '--build' % (path, build))
    return os.path.abspath(path)
