#!/bin/sh
# exercise.sh PROGRAM N: the test cases of exercise N.  It fails as well if there are none.
exec "$1" --warn NoTests "[$2]"
