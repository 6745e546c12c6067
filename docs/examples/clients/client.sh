#!/usr/bin/env bash
# A client of the resequencer that is nothing but kcat: producer, worker and sink of one application.
#   client.sh BROKERS APPLICATION STEPS [PARTITIONER]
# Does the steps of the file STEPS in turn, and prints every record that it reads, then what its index holds:
#   send TOPIC[/PARTITION] KEY PAYLOAD [NAME=VALUE]...   TOPIC without the name of the application
#   read TOPIC ...                                       the next record of the topic
#   answer TARGET PAYLOAD                                a result for the record of work that was read last
# Words contain no blanks; the payloads (null) and (empty) mean just that.
set -euo pipefail

brokers=$1
application=$2
steps=$3
partitioner=${4:-murmur2_random}
declare -A index=() version_of=() seen=()

kcat=(kcat -b "$brokers" -X socket.nagle.disable=true) # small requests go at once
produce=("${kcat[@]}" -P -X "partitioner=$partitioner" -K '|')
if [ "$partitioner" = default ]; then produce=("${kcat[@]}" -P -K '|'); fi

# send TOPIC[/PARTITION] KEY PAYLOAD NAME=VALUE...
send() {
  local place=(-t "$application.${1%%/*}") payload=$3 headers=()
  if [[ $1 = */* ]]; then place+=(-p "${1##*/}"); fi
  for header in "${@:4}"; do headers+=(-H "$header"); done
  case $payload in
    '(null)') echo "$2|" | "${produce[@]}" "${place[@]}" "${headers[@]}" -Z ;;
    '(empty)') echo "$2|" | "${produce[@]}" "${place[@]}" "${headers[@]}" ;;
    *) echo "$2|$payload" | "${produce[@]}" "${place[@]}" "${headers[@]}" ;;
  esac
}

# Sets `line` to the next record of a topic: KEY PAYLOAD NAME=VALUE... Where it is in the log is in `seen`.
# kcat tells null from empty by the length only (-1 and 0: %K and %S). It writes headers as `a=1,b=2`: a comma followed
# by a name and `=` starts the next one. No group is used: `kcat -G` with `-c 1` commits more than it prints.
next_record() {
  local place
  for _ in {1..600}; do
    while read -r place line; do
      if [ -n "${seen[$1/$place]:-}" ]; then continue; fi
      seen[$1/$place]=yes
      return
    done < <("${kcat[@]}" -C -t "$application.$1" -e -q -X isolation.level=read_committed \
      -X fetch.wait.max.ms=10 -f '%p/%o %K:%k %S:%s %h\n' |
      sed -E 's/ -1:/ (null)/g; s/ 0: / (empty) /g; s/ [0-9]+:/ /g; s/,([^,= ]+=)/ \1/g; s/ $//')
    sleep 0.1
  done
  echo "no record of $1" >&2
  exit 1
}

# A result goes back with the key of the record of work and all its reseq-* headers, known or not.
# answer TARGET PAYLOAD
answer() {
  local key=${work[0]} copied=()
  for header in "${work[@]:2}"; do
    if [[ $header = reseq-* ]]; then copied+=("$header"); fi
  done
  send commands "$key" "$2" "${copied[@]}" reseq-command=sequence "reseq-target=$1"
}

# A sink takes what has a higher version than it holds. It remembers the version of what was deleted, too.
# take KEY PAYLOAD NAME=VALUE...
take() {
  local version=0 deleted=no
  for header in "${@:3}"; do
    case $header in
      reseq-version=*) version=${header#*=} ;;
      reseq-op=delete) deleted=yes ;;
    esac
  done
  if [ "$version" -le "${version_of[$1]:-0}" ]; then return; fi
  version_of[$1]=$version
  index[$1]=$2
  if [ "$2" = '(null)' ] || [ "$deleted" = yes ]; then unset "index[$1]"; fi
}

while read -r -a words; do
  case ${words[0]:-} in
    send) send "${words[@]:1}" ;;
    answer) answer "${words[@]:1}" ;;
    read)
      topic=${words[1]}
      next_record "$topic"
      echo "read $topic $line"
      read -r -a record <<<"$line"
      if [ "$topic" = work ]; then work=("${record[@]}"); fi
      if [ "$topic" = output.search ]; then take "${record[@]}"; fi
      ;;
  esac
done <"$steps"
for key in "${!index[@]}"; do echo "index $key ${index[$key]}"; done | sort
