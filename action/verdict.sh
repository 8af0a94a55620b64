#!/usr/bin/env bash
# Fails the job for what was found, as the last step: by then it is uploaded.
set -euo pipefail

# The annotations of the check say what; a further one would take the place of a finding.
echo "Findings at the level that fails the job (fail-on: $INPUT_FAIL_ON), $FINDINGS of all levels: see the log of the check above."
exit 1
