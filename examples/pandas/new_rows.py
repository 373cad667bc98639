#!/usr/bin/env python3
"""Prints the rows of CSV files whose column has a value that no file, and no other run, had before.

Any number of these may run concurrently over one Redis; each value is printed once between them.

sudo apt-get install python3-pandas redis-server
python3 examples/pandas/new_rows.py redis://localhost user access-1.csv access-2.csv
"""
import sys

import pandas

import everseen

url, column, *files = sys.argv[1:]
with everseen.open_or_create(url, "new-rows", capacity=10_000_000) as seen:
    for number, file in enumerate(files):
        for rows in pandas.read_csv(file, chunksize=100_000, dtype=str):
            rows[seen.fresh(rows[column])].to_csv(sys.stdout, index=False, header=number == 0 and rows.index[0] == 0)
