#!/usr/bin/env bash
# Runs the program that was built, where this machine can: the storm has to be found, as an exit status of 1.
# Environment: TARGET.
set -euo pipefail

program="target/$TARGET/release/retrylint"
if ! "$program" --version; then
  # macOS runs the other processor's programs only where its translator is installed.
  case $TARGET in
    x86_64-apple-darwin) echo "This machine does not run $TARGET; not tried."; exit 0 ;;
    *) exit 1 ;;
  esac
fi
status=0
"$program" testdata/storm > storm.txt || status=$?
if [ "$status" != 1 ]; then
  echo "The exit status for testdata/storm is $status, and should be 1." >&2
  exit 1
fi
