#include "cli/waited_for.h"

#include "base/log.h"
#include "cli/lane_text.h"
#include "cli/refusal.h"
#include "cli/session.h"

namespace reseq::cli {

using admin::Json;
using admin::member;
using admin::number_in;
using admin::text_in;

namespace {

std::string waits_for_another(std::string text, const std::string& name) {
  text += ", and for nothing of ";
  text += name;
  text += " before that: `skip` that one, or name with --seq which version of ";
  text += name;
  text += " will not come";
  return text;
}

}  // namespace

Result<Json> waited_for_in(const Json& document, const std::string& id, const std::string& target) {
  const std::string name = log::one_line(id);
  for (const Json& lane : member(document, "lanes")) {
    if (text_in(lane, "target") != target || number_in(lane, "places") == 0) continue;
    Json head = member(lane, "waits_for");
    if (!head.is_object())
      return invalid("nobody says what " + target + " waits for: name the version with --seq, or ask again");
    const std::string text = target + " waits for " + log::one_line(lane_head_text(head));
    if (admin::raw_bytes_in(head, "id") != id) return invalid(waits_for_another(text, name));
    if (head.contains("has_result")) return invalid(text + ": its result is here, there is nothing to skip");
    return head;
  }
  return invalid(target + " waits for nothing of " + name + ": there is nothing to skip");
}

Result<WaitedFor> waited_for(const config::Settings& settings, const std::string& id, const std::string& target,
                             const AskOptions& options) {
  auto session = Session::open(settings, options);
  if (!session) return session.error();
  Answers answers;
  if (auto asked = session.value()->collect(admin::DocumentQuery{id}, answers, all_asked); !asked) return asked.error();
  for (const auto& [partition, part] : answers.partitions())
    for (const Json& document : member(part, "documents")) {
      auto head = waited_for_in(document, id, target);
      if (!head) return head.error();
      return WaitedFor{static_cast<std::int32_t>(partition), std::move(head).value()};
    }
  if (!all_asked(answers))
    return Error{ErrorClass::kTimeout, 0,
                 "nobody answers for the partition of " + log::one_line(id) + ": " + why_unanswered(answers) +
                     "; with --seq, which names the version, nobody is asked"};
  return invalid(log::one_line(id) + " is not known: " + why_unknown(answers));
}

}  // namespace reseq::cli
