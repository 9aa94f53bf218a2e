#!/bin/sh
exec python3 -B docs/errors_test.py
