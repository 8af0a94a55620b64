# shellcheck shell=bash
# What the steps tell the runner. Text that comes from the checked repository never reaches it unguarded: the runner takes
# `::command::` at the start of a line, and `##[command]` anywhere in it, for a command.

# Ends the step, and with it the job: what is wrong, and what to do next.
fail() {
  local text=$1$'\n'"help: $2"
  text=${text//%/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '::error title=retrylint::%s\n' "$text"
  exit 2
}

# A name that nobody can have written into a file beforehand.
secret() {
  printf 'retrylint-%s' "$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
}

# Prints a file in which nothing is a command.
untrusted() {
  local token
  token=$(secret)
  if [ ! -s "$1" ]; then return; fi
  printf '::stop-commands::%s\n' "$token"
  cat -- "$1"
  # What resumes has a line of its own.
  if [ -n "$(tail -c 1 -- "$1")" ]; then echo; fi
  printf '::%s::\n' "$token"
}

# An output of the step.
output() {
  local end
  end=$(secret)
  printf '%s<<%s\n%s\n%s\n' "$1" "$end" "$2" "$end" >> "$GITHUB_OUTPUT"
}
