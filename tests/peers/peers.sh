#!/usr/bin/env bash
# peers.sh: real third-party servers on loopback, for integration tests. See README.md beside this file.
#
#   peers.sh install [NAME...]   install what is missing (Debian, PyPI and npm packages), render the configs
#   peers.sh start   [NAME...]   start and wait until the port answers; nothing to do for a peer that is up
#   peers.sh stop    [NAME...]   end the recorded process of each peer
#   peers.sh reset   [NAME...]   drop a peer's data and seed; a peer that was up is up again afterwards
#   peers.sh seed    [NAME...]   load the test data (radicale, cyrus, dovecot, emulate); safe to repeat
#   peers.sh status              one line per peer
#   peers.sh env                 KEY=VALUE lines (URLs, ports, users, passwords) of every running peer
#
# No NAME means all of them: see ALL below. What is special to a peer is in its folder: NAME/peer.sh.
# PEERS_DIR        state directory (default target/peers of this checkout)
# PEERS_PORT_BASE  default 4600; the ports are base+2 to base+193, on 127.0.0.1 only
# Needs Debian 12, root (the servers run under their own users), python3, and for some peers npm and openssl.
set -euo pipefail

HERE=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
PEERS_DIR=$(realpath -m "${PEERS_DIR:-$HERE/../../target/peers}")
BASE=${PEERS_PORT_BASE:-4600}
ALL="radicale cyrus dovecot exim emulate oidcp faults smtpsink postgres redis"

PORT_GOOGLE=$((BASE + 2)) PORT_ENTRA=$((BASE + 3)) # emulate counts up from its first port
PORT_RADICALE=$((BASE + 10))
PORT_CYRUS_LMTP=$((BASE + 24)) PORT_CYRUS_IMAP=$((BASE + 43)) PORT_CYRUS_HTTP=$((BASE + 80))
PORT_SMTPSINK=$((BASE + 25))
PORT_OIDCP=$((BASE + 30))
PORT_POSTGRES=$((BASE + 54))
PORT_REDIS=$((BASE + 55))
PORT_FAULTS_RADICALE=$((BASE + 70)) PORT_FAULTS_CYRUS=$((BASE + 71)) PORT_FAULTS_GOOGLE=$((BASE + 72))
PORT_FAULTS_ENTRA=$((BASE + 73)) PORT_FAULTS_OIDCP=$((BASE + 74))
PORT_DOVECOT_LMTP=$((BASE + 124)) PORT_DOVECOT_IMAP=$((BASE + 143)) PORT_DOVECOT_IMAPS=$((BASE + 193))
PORT_DOVECOT_SUBMISSION=$((BASE + 187)) PORT_DOVECOT_SUBMISSIONS=$((BASE + 165))
PORT_EXIM=$((BASE + 125))
PORT_CYRUS_SMTP=${PEERS_CYRUS_SMTP_PORT:-$PORT_SMTPSINK} # where Cyrus sends mail; Exim's port closes that loop

USERS="alice bob carol $(printf 't%02d ' {1..20})" # alice and bob get the seed; t01..t20 are for tests that write
PASSWORD=secret
REDIRECT_URI=${PEERS_REDIRECT_URI:-http://127.0.0.1:9999/callback} # registered at oidcp and emulate
OIDCP_AT_TTL=${PEERS_OIDCP_AT_TTL:-600}                            # seconds that an oidcp access token lives

die() { echo "peers.sh: $*" >&2; exit 1; }
answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
as() { setpriv "--reuid=$1" "--regid=$2" --init-groups "${@:3}"; }

render() { # render FILE...: from the peer's folder into its state directory, with the @NAMES@ filled in
  local f v s="s|@DIR@|$PEERS_DIR|g;s|@PASSWORD@|$PASSWORD|g;s|@REDIRECT_URI@|$REDIRECT_URI|g"
  for v in "${!PORT_@}"; do s+=";s|@$v@|${!v}|g"; done
  for f; do sed "$s" "$HERE/$NAME/$f" >"$D/$f"; done
}

load() { # load NAME: the peer's own definitions (each peer is handled in a subshell of its own)
  [[ " $ALL " == *" $1 "* ]] || die "no peer '$1'; there are: $ALL"
  NAME=$1 D=$PEERS_DIR/$1 SIGNAL=TERM DEBS=() TOOLS=() CMD=()
  setup() { :; }     # make data directories, render configs
  after_start() { :; }
  show_env() { :; }
  . "$HERE/$NAME/peer.sh" # also sets PORT, the one that must answer
}

# ---- processes: NAME/pid holds the pid and its start time, so that a reused pid is never taken for ours

started_at() { # start time of process $1; empty when it is gone
  local s
  s=$(cat "/proc/$1/stat" 2>/dev/null) || return 0
  set -- ${s##*) }
  [[ $1 == Z ]] || echo "${20}"
}

alive() { # sets PID
  local t=
  [[ -e $D/pid ]] && read -r PID t <"$D/pid" && [[ -n $t && $(started_at "$PID") == "$t" ]]
}

launch() {
  ! alive || return 0
  halt
  [[ -e $D/installed ]] || die "$NAME is not installed: run peers.sh install $NAME"
  answers "$PORT" && die "$NAME: port $PORT is taken by another process"
  setup
  echo "--- $(date -u +%FT%TZ)" >>"$D/out.log"
  setsid bash -c 's=$(cat /proc/$$/stat); f=(${s##*) }); echo "$$ ${f[19]}" >"$0"; exec "$@"' \
    "$D/pid" "${CMD[@]}" </dev/null >>"$D/out.log" 2>&1 9>&- &
}

await() {
  local i
  for i in {1..1200}; do
    if answers "$PORT" && alive; then
      after_start
      echo "$NAME up on port $PORT"
      return
    fi
    ((i < 100)) || alive || break
    sleep 0.05
  done
  tail -n 15 "$D/out.log" >&2
  die "$NAME did not start, see $D/out.log"
}

halt() { # ask the process to end; after 15 s it is killed
  local i t
  [[ -e $D/pid ]] || return 0
  if alive; then
    kill "-$SIGNAL" "$PID"
    for i in {1..300}; do alive || break; sleep 0.05; done
    ! alive || kill -KILL "$PID"
    echo "$NAME stopped"
  else # it crashed or was killed: end the children that are left in its session, wait until all are gone
    read -r PID t <"$D/pid"
    [[ -n $(started_at "$PID") ]] || for i in {1..300}; do
      kill -KILL $(ps -o pid= --sid "$PID") 2>/dev/null || break
      sleep 0.05
    done
  fi
  rm -f "$D/pid"
}

status() {
  if alive; then
    echo "$NAME up pid=$PID port=$PORT rss=$(ps -o rss= --sid "$PID" | awk '{s += $1} END {print int(s / 1024)}')MB"
  elif [[ -e $D/installed ]]; then echo "$NAME down"; else echo "$NAME not installed"; fi
}

FAILED=""
each() { # each FUNCTION NAME...: run it for every peer, each in a subshell; one that failed is left out from then on
  local f=$1 n rc
  shift
  for n; do
    [[ " $FAILED " != *" $n "* ]] || continue
    set +e
    (set -e; load "$n"; "$f")
    rc=$?
    set -e
    ((rc == 0)) || FAILED+=" $n"
  done
}

. "$HERE/install.sh"

# ---- main

reset_one() {
  local was=
  ! alive || was=1
  halt
  rm -rf "$D/data" && mkdir -p "$D/data"
  [[ -n $was ]] || return 0
  launch
  await
}
up_name() { ! alive || echo "$NAME"; }
up_env() { ! alive || show_env; }
show_all() {
  echo "PEERS_DIR=$PEERS_DIR"
  echo "PEERS_UP=$(each up_name "$@" | paste -sd,)"
  each up_env "$@"
}
run_python() { # run_python SCRIPT NAME...: with the variables of `env`
  export $(show_all $ALL) # no value has a space
  python3 -B "$HERE/$1" "${@:2}"
}

[[ $# -gt 0 ]] || { sed -n '2,/^set/{/^set/d;s/^# \?//;p}' "${BASH_SOURCE[0]}"; exit 2; }
[[ $EUID == 0 ]] || die "needs root"
((${#PEERS_DIR} <= 60)) || die "PEERS_DIR is too long for the Unix sockets below it: $PEERS_DIR"
verb=$1
shift
[[ $# -gt 0 ]] || set -- $ALL
umask 022
mkdir -p "$PEERS_DIR"
exec 9>"$PEERS_DIR/lock"
case $verb in
install) flock 9; install_all "$@" 9>&- ;;
start) flock 9; each launch "$@"; each await "$@" ;;
stop) flock 9; each halt "$@" ;;
reset) flock 9; each reset_one "$@" ;;
seed) flock 9; run_python seed.py "$@" ;;
status) each status "$@" ;;
env) show_all "$@" ;;
*) die "unknown command '$verb'" ;;
esac
[[ -z $FAILED ]] || die "$verb failed for:$FAILED"
