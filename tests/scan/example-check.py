#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs an example and compares what it prints: example-check.py EXPECTED PROGRAM ARGUMENT..."""
import subprocess
import sys

expected, command = sys.argv[1], sys.argv[2:]
with open(expected, "rb") as f:
    wanted = f.read()
result = subprocess.run(command, stdout=subprocess.PIPE, timeout=60, check=False)
if result.returncode or result.stdout != wanted:
    sys.stdout.write("exit status %d, printed:\n" % result.returncode)
    sys.stdout.flush()
    sys.stdout.buffer.write(result.stdout)
    sys.exit(1)
