#!/bin/sh
# SPDX-License-Identifier: MIT
# Records the golden files: golden-record.sh JOURNALCTL, of version 262 (../shared/tools/oracle).
set -eu
here=$(dirname "$(readlink -f "$0")")
exec python3 -B "$here/golden.py" record "${1:?usage: golden-record.sh JOURNALCTL}" \
	"$here/../data/sample" "$here/golden"
