# SPDX-License-Identifier: MIT
"""The benchmark suite: one job per file. bench/run is its door."""
