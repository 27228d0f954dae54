#!/bin/sh
# SPDX-License-Identifier: MIT
# Records what journalctl 262 prints for the real journals: corpora-record.sh JOURNALCTL [SHARED]
# (../shared/tools/oracle brings that version).
set -eu
here=$(dirname "$(readlink -f "$0")")
exec python3 -B "$here/corpora.py" record "${1:?usage: corpora-record.sh JOURNALCTL [SHARED]}" \
	"${2:-$here/../../../shared}" "$here/corpora-hashes.tsv"
