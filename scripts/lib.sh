# Shared by the scripts in this folder: where things are, and how what is missing gets here.
# shellcheck shell=bash

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools="$root/.tools"   # private, ignored by git
mkdir -p "$tools"
# What scripts start looks for tools there, whoever the tree belongs to.
export NENDO_TOOLS="${NENDO_TOOLS:-$tools}"

say() { printf '\n== %s (after %d s)\n' "$*" "$SECONDS" >&2; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }

# need COMMAND PACKAGE: installs a Debian package unless the command is there.
need() {
  command -v "$1" >/dev/null && return
  say "installing Debian package $2 (for $1)"
  install_package "$2"
  command -v "$1" >/dev/null || fail "'$1' is still missing after installing $2"
}

install_package() {
  command -v apt-get >/dev/null || fail "please install $1 (Debian's name for it) and try again"
  local sudo=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "as root: apt-get install $1"
    sudo=(sudo)
  fi
  local install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$1")
  "${install[@]}" >&2 || { "${sudo[@]}" apt-get update -q >&2 && "${install[@]}" >&2; }
}

# need_python LIST...: a private Python environment with the packages of scripts/python/LIST.txt, each of which has the digest
# that is written there.
need_python() {
  need python3 python3
  if [ ! -x "$tools/python/bin/pip" ]; then
    say "making a private Python environment in .tools/python"
    python3 -m venv "$tools/python" 2>/dev/null || { install_package python3-venv; python3 -m venv "$tools/python"; }
  fi
  local list
  for list in "$@"; do
    cmp -s "$root/scripts/python/$list.txt" "$tools/python/$list.txt" && continue
    say "installing into .tools/python: $(grep -o '^[^ #]*==[^ ]*' "$root/scripts/python/$list.txt" | paste -sd ' ')"
    "$tools/python/bin/pip" install -q --require-hashes -r "$root/scripts/python/$list.txt" >&2
    cp "$root/scripts/python/$list.txt" "$tools/python/$list.txt"
  done
}

# What the Verilated engine needs.
need_verilator() {
  need c++ g++
  need verilator verilator
  need_header zlib.h zlib1g-dev
}

# need_header HEADER PACKAGE: the same for a C header.
need_header() {
  printf '#include <%s>\n' "$1" | cc -E -x c - >/dev/null 2>&1 && return
  say "installing Debian package $2 (for $1)"
  install_package "$2"
}

need_rust() {
  command -v cargo >/dev/null || fail "Rust is missing: install it with rustup, then try again"
  need cc gcc
}

# Yosys, nextpnr and ecppack from PyPI, the versions that bitstreams/*/report.json were made with.
need_synthesis() {
  need_python synthesis
}
