#!/usr/bin/env bash
# Publishes dist/: a draft with everything in it first, then the tag, whose commit is the built one plus action/release, then
# the release. Whoever sees the tag sees a whole release; whatever fails before leaves none.
# Environment: VERSION, GH_TOKEN.
set -euo pipefail

# The token goes to git by gh's credential helper, not by an address or a file.
gh auth setup-git
git add -f action/release
git -c user.name="github-actions[bot]" -c user.email="41898282+github-actions[bot]@users.noreply.github.com" \
  commit --quiet -m "Release $VERSION: checksums of what was built"
git tag "v$VERSION"
gh release create "v$VERSION" --draft --title "retrylint $VERSION" --generate-notes dist/*.tar.gz dist/SHA256SUMS
git push --quiet origin "refs/tags/v$VERSION"
gh release edit "v$VERSION" --draft=false
