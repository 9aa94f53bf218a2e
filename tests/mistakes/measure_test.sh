#!/bin/sh
# measure_test.sh: runs measure.py where the headers are found as <weft/...>.
cd .. && exec python3 -B weft/tests/mistakes/measure.py
