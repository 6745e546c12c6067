# shellcheck shell=bash
# Builds a peer of the benchmark with Maven when it is not built or when its sources are newer, and runs it. Sourced by
# the script `peer` in its folder, which sets:
#   folder   where pom.xml and src/ are; target/ is made there
#   jvm      options of the JVM
#   main     class with main()
target=$folder/target

fail() {
  echo "tests/bench/${folder##*/}/peer: $1" >&2
  exit 69 # EX_UNAVAILABLE
}

is_built() { [ -e "$target/built" ] && [ -z "$(find "$folder/pom.xml" "$folder/src" -newer "$target/built")" ]; }

build() {
  mkdir -p "$target"
  exec 8>"$folder/target/lock"
  flock 8
  if ! is_built; then
    command -v mvn >/dev/null || fail 'no mvn: install it with script/deps run'
    touch "$target/begun"
    mvn -q -B -f "$folder/pom.xml" package >"$target/build.log" 2>&1 ||
      fail "$(grep -m 3 ERROR "$target/build.log" || tail -n 3 "$target/build.log")"
    mv "$target/begun" "$target/built"
  fi
  exec 8>&-
}

is_built || build
if [ "${1:-}" = --build ]; then exit; fi
# shellcheck disable=SC2086 # several options
exec java $jvm -cp "$target/classes:$target/jars/*" "$main" "$@"
