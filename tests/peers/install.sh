# Sourced by peers.sh: installs the packages that the peers need and renders their configs.

apt_install() { # apt_install PACKAGE...: those that are missing, without starting the servers they bring
  command -v apt-get dpkg-query >/dev/null || die "the peers' packages are Debian's: there is no apt-get here"
  local p ok=1 policy=/usr/sbin/policy-rc.d made='' missing=()
  for p; do [[ $(dpkg-query -W -f='${db:Status-Status}' "$p" 2>/dev/null) == installed ]] || missing+=("$p"); done
  ((${#missing[@]})) || return 0
  echo "installing ${missing[*]}"
  [[ -e $policy ]] || { made=1; printf '#!/bin/sh\nexit 101\n' >$policy; chmod +x $policy; }
  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=300 "${missing[@]}"; } >"$PEERS_DIR/apt.log" 2>&1 || ok=
  [[ -z $made ]] || rm $policy
  [[ -n $ok ]] || die "apt-get failed, see $PEERS_DIR/apt.log"
}

tool_python() {
  local dir=$PEERS_DIR/python wanted=$HERE/python/requirements.txt
  cmp -s "$wanted" "$dir/installed" && "$dir/bin/python" -c '' 2>/dev/null && return
  echo "installing the Python packages"
  python3 -c 'import ensurepip' 2>/dev/null || apt_install python3-venv
  python3 -m venv --clear "$dir"
  "$dir/bin/pip" install -q --disable-pip-version-check --no-deps -r "$wanted"
  cp "$wanted" "$dir/installed"
}

tool_node() {
  local dir=$PEERS_DIR/node
  cmp -s "$HERE/node/package-lock.json" "$dir/installed" && return
  echo "installing the Node packages"
  mkdir -p "$dir" && cp "$HERE"/node/package*.json "$dir"
  (cd "$dir" && npm ci --silent --ignore-scripts --no-audit --no-fund)
  cp "$HERE/node/package-lock.json" "$dir/installed"
}

tool_tls() { # a certificate authority and a server certificate for localhost and 127.0.0.1
  [[ -e $PEERS_DIR/tls/srv.pem ]] && return
  mkdir -p "$PEERS_DIR/tls"
  (
    cd "$PEERS_DIR/tls"
    openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj "/CN=Peers test CA" -keyout ca.key -out ca.pem \
      -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign
    openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout srv.key -out srv.csr
    printf '%s\n' subjectAltName=DNS:localhost,IP:127.0.0.1 extendedKeyUsage=serverAuth basicConstraints=CA:FALSE >srv.ext
    openssl x509 -req -in srv.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 3650 -extfile srv.ext -out srv.new
    chmod 644 srv.key && mv srv.new srv.pem
  ) 2>"$PEERS_DIR/tls.log" || die "openssl failed, see $PEERS_DIR/tls.log"
}

passable() { # the servers' users must be able to pass through to the state directory
  local d=$PEERS_DIR
  while [[ $d != / ]]; do
    (($(stat -c '0%a & 1' "$d"))) || { echo "chmod o+x $d"; chmod o+x "$d"; }
    d=$(dirname "$d")
  done
}

install_all() {
  local n
  passable
  apt_install $(for n; do (load "$n"; echo "${DEBS[@]}"); done)
  each install_one "$@"
}
install_one() {
  local t
  for t in "${TOOLS[@]}"; do "tool_$t"; done
  mkdir -p "$D/data"
  setup
  touch "$D/installed"
}
