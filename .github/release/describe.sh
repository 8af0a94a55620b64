#!/usr/bin/env bash
# Describes what was built: dist/SHA256SUMS for people, and action/release, by which the action at the tag of this version knows
# its program. All targets have to be there: a release without one of them is none.
# Environment: VERSION, GITHUB_SERVER_URL, GITHUB_REPOSITORY.
set -euo pipefail

targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-musl x86_64-apple-darwin aarch64-apple-darwin x86_64-pc-windows-msvc)
archives=()
for target in "${targets[@]}"; do
  archives+=("retrylint-$VERSION-$target.tar.gz")
done
(cd dist && sha256sum -- "${archives[@]}" > SHA256SUMS)
{
  echo "# Written by .github/workflows/release.yml; stands in the commit of this version's tag only."
  echo "version $VERSION"
  echo "repository $GITHUB_REPOSITORY"
  echo "url $GITHUB_SERVER_URL/$GITHUB_REPOSITORY/releases/download"
  cat dist/SHA256SUMS
} > action/release
cat action/release
