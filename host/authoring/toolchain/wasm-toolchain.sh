#!/usr/bin/env bash
# wasm-toolchain.sh: makes `cargo` build Rust connectors (wasm32-wasip2) as WebAssembly components.
#   wasm-toolchain.sh                   set up if needed, print what was chosen and the environment (shell `export` lines on stdout)
#   wasm-toolchain.sh build -p x ...    set up if needed, then run cargo with these arguments for the wasm target
# CONNECTOR_ROOT       the folder that is built in: the project, or the workspace of connectors (default: this folder)
# CONNECTOR_TARGET_DIR where cargo builds (default: target/connectors below it)
# WASM_TOOLCHAIN_INSTALL=no  Debian's packages are named when they are missing, and not installed
# WASM_TOOLCHAIN=auto|rustup|debian (default auto):
#   rustup  the active rustup toolchain with its wasm32-wasip2 target (added when missing); the target links a component by itself
#   debian  Debian's rustc-web + rust-web-src + wasi-libc (apt, root, or already installed); std for wasm is built once from source
#   auto    the target if it is already there; else `rustup target add`; else debian
set -euo pipefail
T=wasm32-wasip2
want=${WASM_TOOLCHAIN:-auto}
say() { echo "wasm-toolchain: $*" >&2; }
root=$(cd "${CONNECTOR_ROOT:-.}" && pwd)
cache=${WASM_TOOLCHAIN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/switchboard-wasm}
# Vectors: every host that wasmtime compiles for has them. Inlining: each call of a function looks at the clock of the sandbox.
flags="--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo -Ctarget-feature=+simd128 -Cllvm-args=-inline-threshold=500"

# The packages of others are compiled alike for every project, so that projects that share a target folder share them: the project's own folder
# is a flag for its own packages alone, which a wrapper adds.
own=$cache/own-packages-1
write_own() {
  [ -x "$own" ] && return
  mkdir -p "$cache"; local tmp; tmp=$(mktemp "$cache/tmp.XXXXXX")
  printf '#!/bin/sh\nexec "$@" "--remap-path-prefix=$CONNECTOR_ROOT=/src"\n' >"$tmp"
  chmod 755 "$tmp"; mv "$tmp" "$own"
}

has_target() { local s; s=$(cd "$root" && rustc --print sysroot 2>/dev/null) && compgen -G "$s/lib/rustlib/$T/lib/libcore-*.rlib" >/dev/null; }
apt_get() {
  if [ "${WASM_TOOLCHAIN_INSTALL:-yes}" = no ] && command -v apt-get >/dev/null; then
    say "missing: apt-get install --no-install-recommends $*"; return 1
  fi
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { say "missing $*: needs root and apt-get"; return 1; }
  say "apt-get install $*"
  apt-get update -q >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends "$@" >&2
}
find_tool() { # wasm-component-ld, and the wasm lld it runs: those of a rustup toolchain, else Debian's (rust-web-llvm, lld-19)
  local d n host; host=$(/usr/bin/rustc -vV | sed -n 's/^host: //p')
  for d in "$(rustc --print sysroot 2>/dev/null || true)" "${RUSTUP_HOME:-$HOME/.rustup}"/toolchains/* /usr; do
    for n in "$@"; do [ -x "$d/lib/rustlib/$host/bin/$n" ] && { echo "$d/lib/rustlib/$host/bin/$n"; return; }; done
  done
  for n in "$@"; do for d in "" -22 -19; do [ -x "/usr/bin/$n$d" ] && { echo "/usr/bin/$n$d"; return; }; done; done
  return 1
}
use_rustup() {
  if ! has_target; then
    command -v rustup >/dev/null || return 1
    (cd "$root" && timeout "${WASM_TOOLCHAIN_TIMEOUT:-120}" rustup target add $T >&2) || return 1
  fi
  mode="rustup ($(cd "$root" && rustc --version))"; cargo=cargo
  envs=()
}
use_debian() {
  local libc=/usr/lib/wasm32-wasi   # preview 1; the component linker's built-in adapter turns it into preview 2
  if [ ! -x /usr/bin/rustc ] || [ ! -x /usr/bin/cargo ] || [ ! -e /usr/lib/rustlib/src/rust/library/Cargo.lock ] || [ ! -e $libc/libc.a ]; then
    apt_get rustc-web cargo-web rust-web-src wasi-libc || return 1
  fi
  find_tool rust-lld wasm-ld >/dev/null || apt_get lld-19 || return 1
  find_tool wasm-component-ld >/dev/null || apt_get rust-web-llvm || return 1
  local host key sys tmp
  host=$(/usr/bin/rustc -vV | sed -n 's/^host: //p')
  key=$({ /usr/bin/rustc -vV; echo v3; } | sha256sum | cut -c1-16); sys=$cache/sysroot-$key
  if [ ! -e "$sys/ok" ]; then
    say "building std for $T from /usr/lib/rustlib/src (once)"
    mkdir -p "$cache"; tmp=$(mktemp -d "$cache/tmp.XXXXXX")
    mkdir -p "$tmp/shim/src" "$tmp/sys/lib/rustlib/$T/lib/self-contained" "$tmp/sys/lib/rustlib/$host/bin"
    printf '[package]\nname = "stdshim"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[profile.release]\nopt-level = "s"\ncodegen-units = 1\n' >"$tmp/shim/Cargo.toml"
    echo '#![no_std]' >"$tmp/shim/src/lib.rs"
    # std's own dependencies come from the cargo registry: the copies vendored in rust-web-src lack wit-bindgen's libwit_bindgen_cabi.a
    # RUSTC_BOOTSTRAP only here: the connectors themselves are built with stable features alone
    (cd "$tmp/shim" && env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS -u CARGO_TARGET_DIR -u RUSTC_WRAPPER RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
      CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS="-Cembed-bitcode=yes --remap-path-prefix=/usr/lib/rustlib/src/rust=/rust" \
      /usr/bin/cargo build -q --release --target $T -Z build-std=std,panic_abort >&2) || return 1
    cp "$tmp/shim/target/$T/release/deps/"lib*.rlib "$tmp/sys/lib/rustlib/$T/lib/" || return 1
    rm -f "$tmp/sys/lib/rustlib/$T/lib/"libstdshim*
    cp $libc/crt1-command.o $libc/crt1-reactor.o $libc/libc.a "$tmp/sys/lib/rustlib/$T/lib/self-contained/" || return 1
    touch "$tmp/sys/ok"
    mv -T "$tmp/sys" "$sys" 2>/dev/null || [ -e "$sys/ok" ] || return 1   # another process may have won
    rm -rf "$tmp"
  fi
  # rustc puts this folder on PATH for the linker, and wasm-component-ld looks there for wasm-ld or rust-lld
  local lld cld; lld=$(find_tool rust-lld wasm-ld); cld=$(find_tool wasm-component-ld)
  ln -sfn "$lld" "$sys/lib/rustlib/$host/bin/$(case $lld in *rust-lld) echo rust-lld;; *) echo wasm-ld;; esac)"
  ln -sfn "$cld" "$sys/lib/rustlib/$host/bin/wasm-component-ld"
  mode="debian ($(/usr/bin/rustc --version), std in $sys, $lld)"; cargo=/usr/bin/cargo
  flags="--sysroot=$sys $flags"
  envs=("RUSTC=/usr/bin/rustc")
}
case $want in
  rustup) use_rustup ;;
  debian) use_debian ;;
  auto)   use_rustup || use_debian ;;
  *) say "WASM_TOOLCHAIN must be auto, rustup or debian"; exit 2 ;;
esac || { say "no way to build for $T on this machine (tried: $want)"; exit 1; }
write_own
envs+=("CONNECTOR_ROOT=$root" "RUSTC_WORKSPACE_WRAPPER=$own" "CARGO_TARGET_WASM32_WASIP2_RUSTFLAGS=$flags" "CARGO_TARGET_DIR=${CONNECTOR_TARGET_DIR:-$root/target/connectors}")
say "using $mode"
if [ $# = 0 ]; then for e in "${envs[@]}"; do printf 'export %s=%q\n' "${e%%=*}" "${e#*=}"; done; echo "export WASM_CARGO=$cargo"; exit; fi
cmd=$1; shift
exec env -u RUSTFLAGS -u CARGO_ENCODED_RUSTFLAGS -u RUSTC_WRAPPER "${envs[@]}" "$cargo" "$cmd" --target $T "$@"
