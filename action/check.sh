#!/usr/bin/env bash
# Runs retrylint and tells what it found: annotations or text in the log, the job's summary, SARIF, and the outputs `status`,
# `findings`, `errors`, `worst-path` and `sarif-file`. Findings do not end it, since they are uploaded first; whatever keeps
# retrylint from checking does.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"

work=$(mktemp -d "${RUNNER_TEMP:?}/retrylint-XXXXXX")
# The log is no terminal, and `worst-path` is plain text on one line.
unset CLICOLOR_FORCE COLUMNS
export NO_COLOR=1

# Whether an input that is true or false is true.
yes() {
  case $2 in
    true) return 0 ;;
    false) return 1 ;;
    *) fail "\`$1\` is neither true nor false: $2" "write \`$1: true\` or \`$1: false\`" ;;
  esac
}

# The command is an array throughout; no text of an input is ever read as shell.
command=("${RETRYLINT:?}" check "--fail-on=${INPUT_FAIL_ON:-warning}" "--output=jsonl=$work/findings.jsonl")

annotations=false
if yes annotations "${INPUT_ANNOTATIONS:-true}"; then
  annotations=true
  command+=(--format=github)
fi

summary=false
if yes summary "${INPUT_SUMMARY:-true}"; then
  summary=true
  command+=("--output=markdown=$work/summary.md")
fi

sarif=${INPUT_SARIF_FILE:-}
if yes upload-sarif "${INPUT_UPLOAD_SARIF:-false}" && [ -z "$sarif" ]; then
  sarif="$work/retrylint.sarif"
fi
if [[ $sarif == *$'\n'* ]]; then
  fail "\`sarif-file\` is more than one line" "name one file"
fi
if [ -n "$sarif" ]; then
  mkdir -p -- "$(dirname -- "$sarif")"
  command+=("--output=sarif=$sarif")
fi

# The lines of an input that are not blank, in the array `lines`.
read_lines() {
  local line
  lines=()
  while IFS= read -r line; do
    line=${line%$'\r'}
    if [[ $line =~ [^[:space:]] ]]; then lines+=("$line"); fi
  done <<< "$1"
}

read_lines "${INPUT_ARGS:-}"
for argument in ${lines[@]+"${lines[@]}"}; do
  # A value belongs behind `=`, where blanks are part of it.
  if [[ $argument =~ ^-[^=[:space:]]*[[:space:]] ]]; then
    fail "\`args\` takes one argument on a line: $argument" \
      "put each on a line of its own, with its value behind a \`=\`: \`--max-attempts=5\`"
  fi
  command+=("$argument")
done

read_lines "${INPUT_PATH:-.}"
command+=(--)
for path in ${lines[@]+"${lines[@]}"}; do
  command+=("$path")
done

status=0
"${command[@]}" > "$work/findings.txt" 2> "$work/said.txt" < /dev/null || status=$?

# Each line of the annotations is a command of retrylint's own, its values escaped; nothing else is one.
if [ "$annotations" = true ] && [ "$status" -le 1 ]; then
  cat -- "$work/findings.txt"
else
  untrusted "$work/findings.txt"
fi
untrusted "$work/said.txt"

if [ "$status" -gt 1 ]; then
  fail "retrylint could not check (exit status $status): $(head -n 1 -- "$work/said.txt")" "see the log of this step"
fi

# The last line of a complete run begins with the counts, before any text of the repository.
counts='^\{"version":[0-9]+,"summary":\{"errors":([0-9]+),"warnings":([0-9]+),"notes":([0-9]+),'
if ! [[ $(tail -n 1 -- "$work/findings.jsonl") =~ $counts ]]; then
  fail "this version of retrylint does not count its findings as the action expects" "leave \`version\` out"
fi
errors=${BASH_REMATCH[1]}
findings=$((errors + BASH_REMATCH[2] + BASH_REMATCH[3]))

if [ "$summary" = true ] && [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  cat -- "$work/summary.md" >> "$GITHUB_STEP_SUMMARY"
fi

output status "$status"
output findings "$findings"
output errors "$errors"
# The summary names the environment, if there is one: `Worst path in prod: …`.
output worst-path "$(sed -n -e '/^Worst path\( in [^:]*\)\{0,1\}: /{' -e 's///p' -e q -e '}' "$work/said.txt")"
output sarif-file "$sarif"
