#include "cli/selection.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "admin/json_text.h"
#include "cli/refusal.h"
#include "codec/base64.h"

namespace reseq::cli {

namespace {

using admin::Json;

// Small enough that the rate is kept to the second, and that a run that is ended has little to do twice.
constexpr std::int64_t kPageMax = 100;

bool is_failure_with(const Json& failure, admin::State state, const admin::WantedError& error) {
  return is_in_state(failure, state) && error.fits(admin::raw_bytes_in(failure, "error"));
}

}  // namespace

bool is_in_state(const Json& entry, admin::State state) {
  if (state == admin::State::kStuck) return entry.is_object() && entry.contains("stuck");
  return admin::text_in(entry, "state") == admin::name_of(state);
}

std::vector<std::string> causing_targets(const Json& document, admin::State state, const admin::WantedError& error) {
  std::vector<std::string> targets;
  const auto add_all = [&targets](const Json& names) {
    for (const Json& name : names)
      if (name.is_string()) targets.push_back(name.get<std::string>());
  };
  if (state == admin::State::kOverdue) add_all(admin::member(document, "overdue"));
  if (state == admin::State::kStarving) add_all(admin::member(document, "starving"));
  if (state == admin::State::kLive) {
    for (const Json& group : admin::member(document, "groups")) add_all(admin::member(group, "pending"));
    for (const Json& lane : admin::member(document, "lanes"))
      if (admin::number_in(lane, "places") > 0) targets.push_back(admin::text_in(lane, "target"));
  }
  if (admin::is_of_failures(state))
    for (const Json& failure : admin::member(document, "failures"))
      if (is_failure_with(failure, state, error)) add_all(admin::member(failure, "targets"));
  if (admin::is_of_lanes(state))
    for (const Json& lane : admin::member(document, "lanes"))
      if (lane.contains(state == admin::State::kHeld ? "held" : "blocks"))
        targets.push_back(admin::text_in(lane, "target"));
  const admin::State of_queue = state == admin::State::kLive ? admin::State::kWaiting : state;
  if (admin::is_of_the_queue(of_queue))
    for (const Json& entry : admin::member(document, "journal"))
      if (is_in_state(entry, of_queue)) add_all(admin::member(entry, "targets"));
  return targets;
}

bool is_because_of(const std::string& target, const Json& document, admin::State state,
                   const admin::WantedError& error) {
  const std::vector<std::string> targets = causing_targets(document, state, error);
  return std::find(targets.begin(), targets.end(), target) != targets.end();
}

SelectionPages::SelectionPages(Session& session, const Selection& selection, std::int32_t partitions)
    : session_(session),
      state_(selection.state),
      target_(selection.target),
      error_(selection.error),
      page_max_(std::min(selection.rate, kPageMax)),
      partitions_(partitions) {
  query_.state = selection.state;
  query_.id_prefix = selection.id_prefix;
  query_.older_than = selection.older_than;
  query_.error = selection.error;
}

Result<SelectionPages> SelectionPages::open(Session& session, const Selection& selection, std::int32_t partitions) {
  SelectionPages pages(session, selection, partitions);
  if (selection.from.empty()) return pages;
  const std::size_t colon = selection.from.find(':');
  const char* end = selection.from.data() + std::min(colon, selection.from.size());
  const auto [stop, error] = std::from_chars(selection.from.data(), end, pages.partition_);
  const auto cursor = colon == std::string::npos ? std::nullopt : codec::parse_base64(selection.from.substr(colon + 1));
  if (error != std::errc() || stop != end || !cursor || pages.partition_ < 0 || pages.partition_ > partitions)
    return invalid("\"" + selection.from + "\" is no place from which to go on: a run that ends early prints one");
  pages.query_.cursor = *cursor;
  return pages;
}

bool SelectionPages::fits(const Json& document) const {
  if (!document.is_object()) return false;
  // An instance of a version without this question lists what failed of anything.
  return target_ ? is_because_of(*target_, document, state_, error_)
                 : !causing_targets(document, state_, error_).empty();
}

void SelectionPages::go_to_next_partition() {
  ++partition_;
  query_.cursor.clear();
}

Result<std::optional<SelectedPage>> SelectionPages::next(std::int64_t documents_max) {
  if (partition_ >= partitions_) return std::optional<SelectedPage>();
  SelectedPage page;
  page.partition = partition_;
  query_.partition = Partition(partition_);
  query_.documents_max = static_cast<std::size_t>(std::min(page_max_, documents_max));
  Answers answers;
  if (auto asked = session_.collect(query_, answers, all_asked); !asked) return asked.error();
  if (!all_asked(answers)) {
    if (unanswered_.empty()) first_unanswered_ = place();
    unanswered_ += (unanswered_.empty() ? "" : ", ") + std::to_string(partition_);
    go_to_next_partition();
    return std::optional(std::move(page));
  }
  page.part = answers.partitions().begin()->second;
  for (Json& document : page.part["documents"])
    if (fits(document)) page.documents.push_back(std::move(document));
  const auto cursor = codec::parse_base64(admin::text_in(page.part, "cursor", ""));
  if (cursor && !cursor->empty())
    query_.cursor = *cursor;
  else
    go_to_next_partition();
  return std::optional(std::move(page));
}

std::string SelectionPages::place() const {
  if (!first_unanswered_.empty()) return first_unanswered_;
  return std::to_string(partition_) + ":" + codec::base64(query_.cursor);
}

}  // namespace reseq::cli
