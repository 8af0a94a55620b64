#!/usr/bin/env bash
# Finds the program for the next step: the released one that `action/release` describes, otherwise one built from the
# action's own checkout. Its path is the output `binary`.
#
# `action/release` stands in the commits of released tags only, written by the release workflow. It lists the SHA-256 of every
# archive, so that who pins the action to a commit has pinned the program as well.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=action/say.sh
. "$here/say.sh"

work=$(mktemp -d "${RUNNER_TEMP:?}/retrylint-XXXXXX")
exe=
if [ "${RUNNER_OS:-}" = Windows ]; then exe=.exe; fi

# What `action/release` says; all empty where there is none.
own_version='' repository='' url='' sums=''
if [ -f "$here/release" ]; then
  while read -r key value; do
    case $key in
      version) own_version=$value ;;
      repository) repository=$value ;;
      url) url=$value ;;
      '' | '#'*) ;;
      *) sums+="$key $value"$'\n' ;;
    esac
  done < "$here/release"
fi

# The target that the release has for this runner; nothing if it has none.
target() {
  case "${RUNNER_OS:-}-${RUNNER_ARCH:-}" in
    Linux-X64) echo x86_64-unknown-linux-musl ;;
    Linux-ARM64) echo aarch64-unknown-linux-musl ;;
    macOS-X64) echo x86_64-apple-darwin ;;
    macOS-ARM64) echo aarch64-apple-darwin ;;
    Windows-X64) echo x86_64-pc-windows-msvc ;;
  esac
}

# The listed SHA-256 of an archive.
listed() {
  awk -v archive="$1" '$2 == archive { print $1 }' <<< "$sums"
}

sha256() {
  if command -v sha256sum > /dev/null; then
    sha256sum < "$1"
  else
    shasum -a 256 < "$1"
  fi | cut -d ' ' -f 1
}

download() {
  command -v curl > /dev/null || return 1
  curl --fail --silent --show-error --location --retry 3 --connect-timeout 20 --max-time 300 --output "$2" -- "$1"
}

# Whether `gh` is here, can ask and knows how.
can_attest() {
  local help
  [ -n "${GH_TOKEN:-}" ] && command -v gh > /dev/null &&
    help=$(gh attestation verify --help 2> /dev/null) && [[ $help == *--source-ref* ]]
}

# Whether an archive was built by this repository's release workflow, from the tag of that version.
attested() {
  gh attestation verify "$1" --repo "$repository" \
    --signer-workflow "$repository/.github/workflows/release.yml" --source-ref "refs/tags/build-v$2" \
    --deny-self-hosted-runners > /dev/null
}

unpack() {
  local folder=${1##*/}
  folder=${folder%.tar.gz}
  # Read from standard input: a tar of Windows takes the colon of `D:\…` for the end of a host's name.
  (cd "$work" && tar -xzf - "$folder/retrylint$exe") < "$1"
  binary="$work/$folder/retrylint$exe"
}

build() {
  if ! command -v cargo > /dev/null; then
    fail "there is no released program to run here ($1), and no cargo to build one" \
      "install Rust in a step before this one, for example \`rustup toolchain install stable --profile minimal\`"
  fi
  echo "Building retrylint from the action's own checkout: $1"
  # From within the checkout: cargo and rustup heed settings of the folder that they start in, and those of the checked
  # repository may run programs.
  (cd -- "${GITHUB_ACTION_PATH:?}" && unset CARGO_BUILD_TARGET CARGO_TARGET_DIR &&
    cargo build --release --locked --target-dir "$work/target")
  binary="$work/target/release/retrylint$exe"
}

# The release of this tag: the checksum is this checkout's own.
install_own() {
  local archive expected found file
  archive="retrylint-$own_version-$(target).tar.gz"
  expected=$(listed "$archive")
  if [ -z "$expected" ]; then
    build "release $own_version has none for ${RUNNER_OS:-an unknown system} on ${RUNNER_ARCH:-an unknown processor}"
    return
  fi
  file="$work/$archive"
  if ! download "$url/v$own_version/$archive" "$file"; then
    build "$archive could not be downloaded"
    return
  fi
  found=$(sha256 "$file")
  if [ "$found" != "$expected" ]; then
    fail "$archive is not the one that was released: its SHA-256 is $found, and $expected is listed; nothing of it was run" \
      "tell the maintainers; \`version: source\` builds the program from the action's own checkout"
  fi
  if can_attest && [ "${GITHUB_SERVER_URL:-}" = "${url%%/"$repository"/*}" ] && ! attested "$file" "$own_version"; then
    fail "$archive has the listed SHA-256, but no attestation of $repository's release workflow" \
      "tell the maintainers; \`version: source\` builds the program from the action's own checkout"
  fi
  unpack "$file"
}

# Any other release: no checksum of it is known here, so its attestation has to be.
install_other() {
  local archive file
  if [ -z "$own_version" ]; then
    fail "\`version: $1\` asks for a release, and this commit of the action belongs to none" \
      "use the action at the tag \`v$1\`, or leave \`version\` out"
  fi
  if ! can_attest; then
    fail "retrylint $1 cannot be verified: this tag lists the checksums of $own_version only, and there is no \`gh\` that verifies attestations" \
      "use the action at the tag \`v$1\`"
  fi
  archive="retrylint-$1-$(target).tar.gz"
  file="$work/$archive"
  download "$url/v$1/$archive" "$file" ||
    fail "$url/v$1/$archive could not be downloaded" "see which versions and systems are released; use the action at the tag \`v$1\`"
  attested "$file" "$1" ||
    fail "$archive has no attestation of $repository's release workflow for version $1; nothing of it was run" \
      "use the action at the tag \`v$1\`, which lists its checksum"
  unpack "$file"
}

asked=${INPUT_VERSION:-}
asked=${asked#v}
if ! [[ $asked =~ ^(source|[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?)?$ ]]; then
  fail "\`version\` is no version: $INPUT_VERSION" "write it as \`1.2.3\`, or \`source\`, or leave it out"
fi
if [ "$asked" = source ]; then
  build "version: source"
elif [ -n "$asked" ] && [ "$asked" != "$own_version" ]; then
  install_other "$asked"
elif [ -z "$own_version" ]; then
  build "this commit of the action belongs to no release"
elif ! grep -q -x -F "version = \"$own_version\"" "${GITHUB_ACTION_PATH:?}/Cargo.toml"; then
  build "action/release is about another version than this checkout"
else
  install_own
fi

"$binary" --version || fail "the program that was installed does not run here: ${binary##*/}" "try \`version: source\`"
output binary "$binary"
