# Shared by the scripts in this folder: where things are, and how what is missing gets here.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools="$root/.tools"   # private, ignored by git
mkdir -p "$tools"

say() { printf '\n== %s\n' "$*" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# need COMMAND PACKAGE: installs a Debian package unless the command is there.
need() {
  command -v "$1" >/dev/null && return
  command -v apt-get >/dev/null || fail "'$1' is missing; install it (Debian: $2) and try again"
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "'$1' is missing; as root: apt-get install $2"
    sudo=(sudo)
  fi
  say "installing Debian package $2 (for $1)"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$2" >&2 ||
    { "${sudo[@]}" apt-get update -q >&2 &&
      "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$2" >&2; }
  command -v "$1" >/dev/null || fail "'$1' is still missing after installing $2"
}

need_rust() {
  command -v cargo >/dev/null || fail "Rust is missing: install it with rustup, then try again"
  need cc gcc
}
