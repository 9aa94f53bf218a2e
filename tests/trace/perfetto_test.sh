#!/bin/sh
exec python3 "$(dirname "$0")/perfetto_test.py" "$@"
