#include "tests/judge/produced.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <unordered_map>

namespace reseq::judge {

namespace {

// Records of one document are in one partition there, in the order of their decisions. Dead letters and events may have
// no key, or one that came in a partition that is not its own.
bool is_ordered(const runtime::Application& application, std::size_t topic) {
  if (application.partitioner == Partitioner::kUnchecked) return false;
  if (topic == application.topics.of(Role::kWork).value()) return true;
  for (std::size_t i = 0; i < application.settings.targets.size(); ++i)
    if (topic == application.topics.output(i).value()) return true;
  return false;
}

bool is_written_by_batches(const runtime::Application& application, std::size_t topic) {
  if (topic == application.topics.of(Role::kChangelog).value()) return false;
  return std::none_of(runtime::kInputs.begin(), runtime::kInputs.end(),
                      [&](Role role) { return topic == application.topics.of(role).value(); });
}

}  // namespace

std::string told(const runtime::Application& application, const History& history, const Source& where) {
  const History::Log& log = history.log(where.place);
  const std::size_t i = log.at_or_behind(where.offset);
  return application.topics.names()[where.place.topic] + "[" + std::to_string(where.place.partition.value()) + "]@" +
         std::to_string(where.offset.value()) + (i < log.size() ? " " + describe(log[i]) : "");
}

Produced::One Produced::one_of(const Record& record, const Source& source) {
  const std::string_view key = record.key.value_or("");
  return {fingerprint(record), std::hash<std::string_view>()(key), !key.empty(), source};
}

void Produced::add(std::size_t topic, const Record& record, const Source& from) {
  decided_[topic].push_back(one_of(record, from));
}

Produced::All Produced::committed(const History& history, std::size_t topic) {
  All all;
  for (auto one = history.logs().lower_bound({topic, Partition(0)});
       one != history.logs().end() && one->first.topic == topic; ++one)
    for (std::size_t i = 0; i < one->second.size(); ++i) {
      const Record record = one->second[i];
      all.push_back(one_of(record, {one->first, record.offset}));
    }
  return all;
}

std::optional<std::string> Produced::other_order(const runtime::Application& application, const History& history,
                                                 All& decided, All& committed) {
  const auto by_key = [](const One& a, const One& b) { return a.key < b.key; };
  std::stable_sort(decided.begin(), decided.end(), by_key);
  std::stable_sort(committed.begin(), committed.end(), by_key);
  const auto [one, other] = std::mismatch(decided.begin(), decided.end(), committed.begin(), committed.end(),
                                          [](const One& a, const One& b) { return a.fingerprint == b.fingerprint; });
  if (one == decided.end() && other == committed.end()) return std::nullopt;
  if (one == decided.end() || other == committed.end()) return "";
  return "not in the order of its decisions: " + told(application, history, other->source) + " stands where " +
         told(application, history, one->source) + " was decided";
}

// Readers of a topic get the records of one document in order only when they are all in one partition.
void Produced::compare_places(const runtime::Application& application, const History& history, const All& committed,
                              Verdict& verdict) {
  std::unordered_map<std::uint64_t, const One*> first;
  for (const One& one : committed) {
    if (!one.keyed) continue;
    const One& other = *first.try_emplace(one.key, &one).first->second;
    if (one.source.place != other.source.place)
      verdict.add(Check::kProduced, "one document in two partitions: " + told(application, history, other.source) +
                                        " and " + told(application, history, one.source));
  }
}

void Produced::compare(const runtime::Application& application, const History& history, std::size_t topic,
                       Verdict& verdict) {
  All& decided = decided_[topic];
  All found = committed(history, topic);
  compare_places(application, history, found, verdict);
  const auto disorder =
      is_ordered(application, topic) ? other_order(application, history, decided, found) : std::nullopt;
  if (is_ordered(application, topic) && !disorder) return;
  const auto by_print = [](const One& a, const One& b) { return a.fingerprint < b.fingerprint; };
  std::sort(decided.begin(), decided.end(), by_print);
  std::sort(found.begin(), found.end(), by_print);
  All lacking;
  All foreign;
  std::set_difference(decided.begin(), decided.end(), found.begin(), found.end(), std::back_inserter(lacking),
                      by_print);
  std::set_difference(found.begin(), found.end(), decided.begin(), decided.end(), std::back_inserter(foreign),
                      by_print);
  const std::string& name = application.topics.names()[topic];
  for (const One& one : foreign)
    verdict.add(Check::kProduced, "no batch sent " + told(application, history, one.source));
  for (const One& one : lacking)
    verdict.add(Check::kProduced,
                name + " lacks what a batch sent because of " + told(application, history, one.source));
  if (foreign.empty() && lacking.empty() && disorder) verdict.add(Check::kProduced, *disorder);
}

void Produced::compare(const runtime::Application& application, const History& history, Verdict& verdict) {
  for (std::size_t topic = 0; topic < decided_.size(); ++topic)
    if (is_written_by_batches(application, topic)) compare(application, history, topic, verdict);
}

}  // namespace reseq::judge
