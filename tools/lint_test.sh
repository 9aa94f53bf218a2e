#!/bin/sh
cd tools && exec python3 -B lint_test.py
