#!/bin/sh
cd tools && python3 -B lint_test.py && exec python3 -B layers_test.py
