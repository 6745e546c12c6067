# Results for `search`: reads work from reseq-stage, line by line.
while read -r line; do
  case $(jq -r .payload <<<"$line") in
    locked)
      if [ "$(jq '.headers["reseq-attempt"]' <<<"$line")" = null ]; then
        echo "the index is locked" >&2
        exit 75
      fi
      ;;
    crash) kill -SEGV $$ ;;
    pdf)
      jq -c '{ticket, command: "fail", failure: "permanent", error: "not a PDF"}' <<<"$line"
      continue
      ;;
    away)
      jq -c '{ticket, command: "fail", failure_scope: "universal", error: "connection refused"}' <<<"$line"
      continue
      ;;
  esac
  jq -c '{ticket, payload}' <<<"$line"
done
