#!/usr/bin/env bash
# Packs a program that was built: dist/retrylint-VERSION-TARGET.tar.gz, with its licences and README.
# Environment: VERSION, TARGET, PROGRAM (the file; target/TARGET/release/retrylint if unset).
set -euo pipefail

exe=
case $TARGET in *-windows-*) exe=.exe ;; esac
name="retrylint-$VERSION-$TARGET"
mkdir -p "dist/$name"
cp -- "${PROGRAM:-target/$TARGET/release/retrylint$exe}" "dist/$name/retrylint$exe"
cp LICENSE-APACHE LICENSE-MIT README.md "dist/$name/"
# Without it, tar of macOS adds files of its own.
export COPYFILE_DISABLE=1
(cd dist && tar -cf - "$name" | gzip -9 -n > "$name.tar.gz")
rm -r "dist/$name"
