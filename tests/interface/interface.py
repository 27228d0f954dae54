#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a program that is not part of this project finds of the library.

  interface.py header SOURCE_ROOT    jscan.h compiles, alone and twice, as C89, C11, C++98, C++17
  interface.py symbols LIBRARY LIST  the exported symbols and their versions are those of LIST
  interface.py state LIBRARY         no data of the library can be written to
  interface.py installed BUILD PAGE SAMPLE
                                     after "meson install" somewhere, the manual page's example
                                     compiles by pkg-config alone, linked dynamically and
                                     statically, and prints messages of the folder SAMPLE

Prints TAP. LIST is debian/libjscan0.symbols: adding a symbol is a line there; removing or changing
one breaks programs and wants another soname.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

STANDARDS = [('cc', '-std=c89'), ('cc', '-std=c11'), ('c++', '-std=c++98'), ('c++', '-std=c++17')]
PROGRAM = '''#include <jscan.h>
#include <jscan.h>
int main(void) { return jscan_version() == 0; }
'''
results = []


def report(name, problem):
    """Notes the result of one test: PROBLEM is empty, or says what is wrong."""
    results.append(not problem)
    print(f'{"ok" if not problem else "not ok"} {len(results)} - {name}')
    for line in problem.split('\n') if problem else []:
        print(f'# {line}')


def problem_of(command, **options):
    """Runs a command. What it said if it failed or warned, else nothing."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    said = done.stdout.strip()
    if done.returncode:
        return f'{shlex.join(command)}\n{said}\nexit status {done.returncode}'
    return said


def check_header(root):
    """jscan.h in the languages that programs are written in."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, 'program')
        with open(source, 'w', encoding='ascii') as file:
            file.write(PROGRAM)
        for compiler, standard in STANDARDS:
            name = f'header is good {standard[5:]}'
            if not shutil.which(compiler):
                print(f'ok {len(results) + 1} - {name} # SKIP no {compiler}')
                results.append(True)
                continue
            language = 'c' if compiler == 'cc' else 'c++'
            report(name, problem_of([
                compiler, '-x', language, standard, '-Wall', '-Wextra', '-Wpedantic',
                *(['-Wno-long-long'] if standard == '-std=c89' else []),
                '-fsyntax-only', '-I', os.path.join(root, 'engine/include'), source]))


def exported(library):
    """The symbols of a shared library, each as NAME@VERSION, without that of the version itself."""
    text = subprocess.run(['nm', '-D', '--defined-only', library], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    return {symbol.replace('@@', '@') for _, kind, symbol in map(str.split, text.splitlines())
            if kind != 'A'}


def check_symbols(library, recorded):
    """Exported symbols against the recorded list."""
    with open(recorded, encoding='utf-8') as file:
        wanted = {line.split()[0] for line in file if line.startswith(' jscan_')}
    found = exported(library)
    lines = [f'missing: {symbol}' for symbol in sorted(wanted - found)]
    lines += [f'not recorded in {os.path.basename(recorded)}: {symbol}'
              for symbol in sorted(found - wanted)]
    report('exported symbols are the recorded ones', '\n'.join(lines))


def check_state(library):
    """Nothing of the library's data may be written to: two engines never share anything."""
    sections = subprocess.run(['readelf', '-SW', library], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    numbers = {number for number, name in re.findall(r'\[ *(\d+)\] (\.\S+)', sections)
               if name in ('.data', '.bss', '.tdata', '.tbss')}
    symbols = subprocess.run(['readelf', '-sW', library], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    if '__asan' in symbols or '__tsan' in symbols or '__gcov' in symbols:
        symbols = ''  # these keep state of their own
    rows = [line.split() for line in symbols.splitlines() if ' OBJECT ' in line]
    report('keeps no global state', '\n'.join(
        row[7] for row in rows
        if row[6] in numbers and row[7] not in ('completed.0', '__dso_handle', '__TMC_END__')))


def example_of(page):
    """The program in a manual page."""
    with open(page, encoding='utf-8') as file:
        text = file.read()
    text = text[text.index('.Bd -literal -offset indent\n'):]
    return text[text.index('\n') + 1:text.index('.Ed\n')].replace('\\e', '\\')


def check_installed(build, page, sample):
    """An installed library as pkg-config describes it."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, 'program.c')
        with open(program, 'w', encoding='utf-8') as file:
            file.write(example_of(page))
        environment = dict(os.environ, DESTDIR=folder)
        problem = subprocess.run(['meson', 'install', '-C', build, '--no-rebuild', '--quiet'],
                                 env=environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, check=False)
        report('installs', problem.stdout if problem.returncode else '')
        places = [path for path, _, names in os.walk(folder) if 'libjscan.pc' in names]
        if not places:
            report('pkg-config file is installed', 'no libjscan.pc')
            return
        environment['PKG_CONFIG_PATH'] = places[0]
        environment['PKG_CONFIG_SYSROOT_DIR'] = folder
        library = os.path.dirname(places[0])
        environment['LD_LIBRARY_PATH'] = library
        del environment['DESTDIR']
        for how in 'shared', 'static':
            target = os.path.join(folder, how)
            flags = subprocess.run(
                ['pkg-config', *(['--static'] if how == 'static' else []), '--cflags', '--libs',
                 'libjscan'], env=environment, stdout=subprocess.PIPE, text=True,
                check=True).stdout.split()
            if how == 'static':
                flags = [os.path.join(library, 'libjscan.a') if flag == '-ljscan' else flag
                         for flag in flags]
            problem = problem_of(['cc', '-o', target, program, *flags], env=environment)
            report(f'program links by pkg-config, {how}', problem)
            if not problem:
                done = subprocess.run([target, sample], env=environment,
                                      stdout=subprocess.PIPE, check=False)
                report(f'program runs, {how}', '' if done.returncode == 0 and done.stdout else
                       f'exit status {done.returncode}, {len(done.stdout)} bytes')


def main():
    """See the top of the file."""
    checks = {'header': check_header, 'symbols': check_symbols,
              'state': check_state, 'installed': check_installed}
    if len(sys.argv) < 3 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    checks[sys.argv[1]](*sys.argv[2:])
    print(f'1..{len(results)}')
    sys.exit(not all(results))


if __name__ == '__main__':
    main()
