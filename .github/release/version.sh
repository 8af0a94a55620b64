#!/usr/bin/env bash
# The version to release, from the tag `build-vX.Y.Z` that started the workflow; Cargo.toml has to say the same, and nobody may
# have released it yet. Output: `version`.
set -euo pipefail

version=${GITHUB_REF_NAME#build-v}
if ! [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] || [ "$GITHUB_REF_NAME" != "build-v$version" ]; then
  echo "The tag is no build tag: $GITHUB_REF_NAME; write it as build-v1.2.3." >&2
  exit 1
fi
if ! grep -q -x -F "version = \"$version\"" Cargo.toml; then
  echo "Cargo.toml is about another version than $GITHUB_REF_NAME: write \`version = \"$version\"\` there first." >&2
  exit 1
fi
released=$(git ls-remote --tags origin "refs/tags/v$version")
if [ -n "$released" ]; then
  echo "v$version is released already; a release is never changed: take the next version." >&2
  exit 1
fi
echo "version=$version" >> "$GITHUB_OUTPUT"
