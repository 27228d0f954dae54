# SPDX-License-Identifier: MIT
"""Archives to measure on: made by bench/gen, or any folder of journals."""
import ctypes
import json
import mmap
import os
import pathlib
import subprocess

DROP = '/proc/sys/vm/drop_caches'
PAGE = mmap.PAGESIZE


class Archive:
    """A folder of journal files."""

    def __init__(self, name, path, made):
        self.name, self.path, self.made = name, str(path), made
        self.files = sorted(p for p in pathlib.Path(path).rglob('*.journal') if p.is_file())
        if not self.files:
            raise SystemExit('run: no journal files in %s' % path)

    def disk_bytes(self):
        """What its files take on the disk."""
        return sum(p.stat().st_blocks * 512 for p in self.files)

    def describe(self):
        """For the set-up: nothing that names a place."""
        return {'name': self.name, 'files': len(self.files), 'disk_bytes': self.disk_bytes(),
                'length_bytes': sum(p.stat().st_size for p in self.files), 'made': self.made}

    def cached_bytes(self):
        """How much of it is in the page cache."""
        return sum(_cached(p) for p in self.files)

    def evict(self):
        """Takes it out of the page cache."""
        if os.access(DROP, os.W_OK):
            os.sync()
            with open(DROP, 'w', encoding='ascii') as f:
                f.write('1\n')
        for path in self.files:
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def _cached(path):
    """The bytes of a file that are in the page cache, by mincore()."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long]
    libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    size = path.stat().st_size
    if size == 0:
        return 0
    fd = os.open(path, os.O_RDONLY)
    try:
        address = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    finally:
        os.close(fd)
    if address in (None, ctypes.c_void_p(-1).value):
        return 0
    states = ctypes.create_string_buffer((size + PAGE - 1) // PAGE)
    r = libc.mincore(address, size, states)
    libc.munmap(address, size)
    return sum(b & 1 for b in states.raw) * PAGE if r == 0 else 0


class Archives:
    """Makes archives when they are first asked for, and keeps them for the next run."""

    def __init__(self, gen, folder, given, options):
        self.gen, self.folder, self.given, self.options = gen, folder, given, options
        self.known = {}

    def get(self, layout, **changes):
        """The archive of a layout: one that the user named, or one made with these options."""
        if layout in self.given and not changes:
            return self._keep(layout, Archive(layout, self.given[layout], 'given'))
        options = {**self.options.get(layout, {}), **changes}
        words = ['--%s=%d' % item for item in sorted(options.items())]
        name = '-'.join([layout] + ['%s%d' % (k[0], v) for k, v in sorted(options.items())])
        if name in self.known:
            return self.known[name]
        path = os.path.join(self.folder, name)
        note = os.path.join(path, 'archive.json')
        if not os.path.exists(note):
            os.makedirs(path, exist_ok=True)
            made = subprocess.run([self.gen, *words, layout, path], check=True,
                                  stdout=subprocess.PIPE).stdout
            with open(note, 'wb') as f:
                f.write(made)
        with open(note, 'rb') as f:
            return self._keep(name, Archive(name, path, json.load(f)))

    def _keep(self, name, archive):
        return self.known.setdefault(name, archive)
