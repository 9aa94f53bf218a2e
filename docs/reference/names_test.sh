#!/bin/sh
# Every public name is in names.txt, has a docstring, and is used by an example; and the other way round.
exec python3 -B docs/reference/names_test.py
