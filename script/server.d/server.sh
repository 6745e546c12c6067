# shellcheck shell=bash
# What script/kafka, script/opensearch and script/postgres share: one server in a folder of its own, on loopback. They
# source it, and say with what is theirs:
#   script        where they are
#   server        what people call it
#   process       what it is called in its folder: $process.pid, $process.log
#   mark          a path in its folder that its command line names; a folder without its first part is none of theirs
#   address       the word before `=` in what `start` prints; the address is kept in file $address_file
#   address_taken what its log says when somebody else has the port
#   end_signal    what it shuts down in order for
#   wipe_signal   what ends it when its folder is deleted
#   wait_s        seconds until it has to be ready
#   dir, owner    of the command line
# and by functions:
#   make_ready    gets what it needs to run, and says what is missing
#   choose_ports  before each try, and what follows from them
#   launch        starts it and writes its pid
#   answers       whether it serves
#   own_address   prints it
self=${script#"$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")"/}

fail() {
  echo "$self: $1" >&2
  exit "${2:-69}" # EX_UNAVAILABLE
}

# What stands at the top of the script.
help() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$script"; }

need() { command -v "$1" >/dev/null || fail "no $1: install it with script/deps run"; }

# fetch_jars FOLDER WHAT POM [DEFINITION...]: sets `jars` to a folder of the cache with what the POM names, fetched once:
# complete or not at all. add_to_jars FOLDER, if there is one, puts more into it.
fetch_jars() {
  local what=$2 pom=$3 cache=${XDG_CACHE_HOME:-$HOME/.cache}/resequencer fresh
  jars=$cache/$1
  if [ -d "$jars" ]; then return; fi
  need mvn
  mkdir -p "$cache"
  exec 8>"$jars.lock"
  flock 8
  if [ ! -d "$jars" ]; then
    fresh=$(mktemp -d "$jars.XXXXXX")
    echo "$self: fetching $what from Maven Central" >&2
    if ! mvn -q -B -f "$pom" "${@:4}" dependency:copy-dependencies -DoutputDirectory="$fresh" >"$jars.log" 2>&1; then
      rm -rf "$fresh"
      fail "Maven cannot get $what: $(grep -m 1 ERROR "$jars.log" || tail -n 1 "$jars.log")"
    fi
    if declare -F add_to_jars >/dev/null && ! add_to_jars "$fresh" >"$jars.log" 2>&1; then
      rm -rf "$fresh"
      fail "what is added to $what cannot be made: $(head -n 3 "$jars.log")"
    fi
    mv "$fresh" "$jars"
  fi
  exec 8>&-
}

# The pid of the server of this folder; fails when none runs. A pid that now belongs to another program is none.
running_pid() {
  local pid
  pid=$(cat "$dir/$process.pid" 2>/dev/null) && [ -n "$pid" ] || return 1
  tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF -e "$dir/$mark" || return 1
  echo "$pid"
}

port_is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port [TAKEN...]: a free port below the range that outgoing connections take theirs from, none of these.
free_port() {
  local port
  for _ in $(seq 100); do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    if [[ " $* " != *" $port "* ]] && port_is_free "$port"; then echo "$port" && return; fi
  done
  fail "no free port between 20000 and 32000"
}

# Where it was, if it can be there again: clients find it. WANTED is taken, free or not.
# again_or_free WANTED BEFORE [TAKEN...]
again_or_free() {
  if [ -n "$1" ]; then
    echo "$1"
  elif [ -n "$2" ] && [[ " ${*:3} " != *" $2 "* ]] && port_is_free "$2"; then
    echo "$2"
  else
    free_port "${@:3}"
  fi
}

wait_until_ready() {
  local deadline=$((SECONDS + wait_s)) pid=$1
  while [ $SECONDS -lt $deadline ]; do
    if [ ! -d "/proc/$pid" ]; then return 1; fi
    if answers; then return 0; fi
    sleep 0.1
  done
  end_process "$pid"
  return 1
}

# Up to 20 s to shut down in order, then SIGKILL.
end_process() {
  kill -"$end_signal" "$1" 2>/dev/null || return 0
  for _ in $(seq 200); do
    if [ ! -d "/proc/$1" ]; then return; fi
    sleep 0.1
  done
  kill -KILL "$1" 2>/dev/null || true
}

start_server() {
  make_ready
  for _ in 1 2 3; do # again only when somebody else took a port in between
    choose_ports
    launch
    if wait_until_ready "$(cat "$dir/$process.pid")"; then
      own_address >"$dir/$address_file"
      return
    fi
    rm -f "$dir/$process.pid"
    if ! grep -q "$address_taken" "$dir/$process.log"; then break; fi
  done
  fail "$server did not get ready in $wait_s s; the end of $dir/$process.log:
$(tail -n 12 "$dir/$process.log")"
}

# One start or stop of a folder at a time.
lock_folder() {
  mkdir -p "$dir"
  exec 7>"$dir.lock"
  flock 7
}

wipe_when_gone() {
  # shellcheck disable=SC2016 # expanded by the inner shell
  setsid bash -c 'tail --pid="$0" -f /dev/null; exec "$1" wipe --dir "$2"' "$owner" "$script" "$dir" \
    </dev/null >/dev/null 2>&1 7>&- &
}

start() {
  lock_folder
  if ! running_pid >/dev/null; then
    start_server
    if [ -n "$owner" ]; then wipe_when_gone; fi
  fi
  echo "$address=$(cat "$dir/$address_file")"
}

stop() {
  if [ ! -d "$dir" ]; then return; fi
  lock_folder
  local pid
  if pid=$(running_pid); then end_process "$pid"; fi
  rm -f "$dir/$process.pid"
}

wipe() {
  if [ -d "$dir" ] && [ ! -e "$dir/${mark%%/*}" ] && [ -n "$(ls -A "$dir")" ]; then
    fail "$dir is not a folder of $self, nothing deleted" 73 # EX_CANTCREAT
  fi
  end_signal=$wipe_signal
  stop
  rm -rf "$dir" "$dir.lock"
}

status() {
  if running_pid >/dev/null; then
    echo "running $address=$(cat "$dir/$address_file")"
  else
    echo stopped
    exit 3
  fi
}
