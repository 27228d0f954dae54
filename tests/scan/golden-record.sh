#!/bin/sh
# SPDX-License-Identifier: MIT
# Records what test-golden.c compares with: golden-record.sh JOURNALCTL, from the top of the tree.
# JOURNALCTL is version 262, or one that prints the same.
set -eu
journalctl=$1
sample=tests/data/sample
out=tests/scan/golden
export TZ=UTC LC_ALL=C.UTF-8

record() {
	name=$1
	shift
	"$journalctl" -q --no-pager -D "$sample" "$@" >"$out/$name"
}

record short -o short
record short-reverse -o short -r
record cat -o cat
record cat-match -o cat _COMM=sshd PRIORITY=6 + _TRANSPORT=kernel
record short-monotonic-tail -o short-monotonic -n 8
record verbose-reverse -o verbose -r -n 3
record export-head -o export -n +6
record export-match-reverse -o export -r _COMM=sshd
