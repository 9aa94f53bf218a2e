#!/bin/sh
# names_test.sh: runs names.py where the headers are found as <weft/...>.
cd .. && exec python3 -B weft/tests/mistakes/names.py
