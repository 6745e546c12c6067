#include "demo/run/failure_evidence.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "codec/base64.h"
#include "codec/target_names.h"
#include "demo/run/topic_reader.h"

namespace reseq::demo {
namespace {

std::string member_text(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string id_of(const nlohmann::json& object) {
  if (const std::string encoded = member_text(object, "id_base64"); !encoded.empty())
    return codec::parse_base64(encoded).value_or(std::string());
  return member_text(object, "id");
}

bool is_in(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

FailureClass class_of(const kafka::PlainRecord& record) {
  const std::string_view kind = header_of(record, "reseq-failure");
  const bool permanent = kind == "permanent";
  if (header_of(record, "reseq-failure-scope") == "universal")
    return permanent ? FailureClass::kUniversalPermanent : FailureClass::kUniversalTransient;
  if (permanent) return FailureClass::kPermanent;
  return kind == "transient" ? FailureClass::kTransient : FailureClass::kUnknown;
}

bool is_universal(FailureClass what) {
  return what == FailureClass::kUniversalTransient || what == FailureClass::kUniversalPermanent;
}

}  // namespace

void FailureEvidence::add_request(const kafka::PlainRecord& record) {
  ++requests_;
  partitions_[key_of(record)] = record.partition.value();
  std::uint64_t& newest = newest_[key_of(record)];
  newest = std::max(newest, sequence_of(record));
}

void FailureEvidence::add_work(const kafka::PlainRecord& record) {
  Sent sent{.ms = record.timestamp.value(),
            .id = key_of(record),
            .sequence = sequence_of(record),
            .targets = codec::names_in(header_of(record, "reseq-targets")),
            .first = number_of(header_of(record, "reseq-attempt"), 1) == 1};
  for (const std::string& target : sent.targets) ++lives_[{target, sent.id, sent.sequence}].tries;
  work_.push_back(std::move(sent));
}

void FailureEvidence::add_command(const kafka::PlainRecord& record) {
  if (header_of(record, "reseq-command") != "fail") return;
  Said said{class_of(record), std::string(header_of(record, "reseq-target")), key_of(record)};
  ClassCounts& counts = classes_[said.what];
  ++counts.said;
  counts.documents.insert(said.id);
  said_.emplace(Place(record.partition.value(), record.offset.value()), std::move(said));
}

void FailureEvidence::add_event(const kafka::PlainRecord& record) {
  if (!record.payload) return;
  count_event(*record.payload, requests_topic_, outcomes_);
  const nlohmann::json json = nlohmann::json::parse(*record.payload, nullptr, false);
  if (!json.is_object()) return;
  Event event{.ms = record.timestamp.value(),
              .place = {record.partition.value(), record.offset.value()},
              .kind = member_text(json, "kind"),
              .row = member_text(json, "table_row"),
              .operation = member_text(json, "operation"),
              .outcome = member_text(json, "outcome"),
              .id = id_of(json),
              .target = member_text(json, "target")};
  if (const auto order = json.find("order"); order != json.end() && order->is_object())
    event.sequence = number_of(member_text(*order, "seq"));
  if (const auto targets = json.find("targets"); targets != json.end() && targets->is_array())
    for (const auto& name : *targets)
      if (name.is_string()) event.targets.push_back(name.get<std::string>());
  if (const auto source = json.find("source"); source != json.end() && source->is_object())
    event.source = {source->value("partition", -1), source->value("offset", std::int64_t{-1})};
  events_.push_back(std::move(event));
}

void FailureEvidence::add_dead_letter(const kafka::PlainRecord& record) {
  dead_letters_.push_back(dead_letter_of(record));
}

void FailureEvidence::add_output(const std::string& target, const kafka::PlainRecord& record) {
  lives_[{target, key_of(record), sequence_of(record)}].released = true;
  released_.push_back({record.timestamp.value(), record.partition.value(), target});
}

// What a breaker does has no source, but a document.
std::int32_t FailureEvidence::partition_of(const Event& event) const {
  if (event.source.first >= 0) return event.source.first;
  const auto found = partitions_.find(event.id);
  return found == partitions_.end() ? -1 : found->second;
}

bool FailureEvidence::is_down(std::int32_t partition, const std::string& target) const {
  return std::any_of(downs_.begin(), downs_.end(), [&](const Down& down) {
    return down.partition == partition && down.target == target && down.to_ms == 0;
  });
}

void FailureEvidence::end_down(std::int32_t partition, std::int64_t ms) {
  for (Down& down : downs_)
    if (down.partition == partition && down.to_ms == 0) down.to_ms = ms;
}

void FailureEvidence::take_failure(const Event& event) {
  const auto said = said_.find(event.source);
  if (said == said_.end()) return;
  ClassCounts& counts = classes_[said->second.what];
  Life& life = lives_[{said->second.target, event.id, event.sequence}];
  if (event.row == "F5") {
    ++counts.tried_again;
    ++life.tried_again;
    if (is_universal(said->second.what) && is_down(partition_of(event), said->second.target))
      ++retries_lost_while_down_;
  } else if (event.row == "F3") {
    ++counts.waited;
    ++life.waited;
  } else if (event.row == "F4") {
    ++counts.given_up;
  } else {
    ++counts.not_counted;
  }
}

// One target can be down at a time here, so an operator's word is about that.
void FailureEvidence::take(const Event& event) {
  if (event.kind == "target_down")
    downs_.push_back({.target = event.target, .partition = partition_of(event), .from_ms = event.ms});
  if (event.kind == "target_up") end_down(partition_of(event), event.ms);
  if (event.kind == "operation" && event.operation == "resume-target" && event.outcome == "applied")
    end_down(partition_of(event), event.ms);
  if (event.kind == "lease_lost")
    for (const std::string& target : event.targets) ++lives_[{target, event.id, event.sequence}].leases_lost;
  if (event.kind == "outcome" && event.row.starts_with('F')) take_failure(event);
}

void FailureEvidence::finish() {
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return std::tie(a.ms, a.place) < std::tie(b.ms, b.place); });
  for (const Event& event : events_) take(event);
}

void FailureEvidence::count_during(const Down& down, OutageCounts& counts, std::set<TargetOrder>& waited) const {
  const auto during = [&](std::int64_t ms) { return ms >= down.from_ms && ms < down.to_ms; };
  for (const Sent& sent : work_) {
    const auto partition = partitions_.find(sent.id);
    if (!during(sent.ms) || partition == partitions_.end() || partition->second != down.partition) continue;
    if (is_in(sent.targets, down.target))
      ++counts.tried;
    else if (sent.first)
      waited.insert({down.target, sent.id, sent.sequence});
  }
  for (const Event& event : events_)
    if (event.row == "F3" && during(event.ms) && partition_of(event) == down.partition)
      waited.insert({down.target, event.id, event.sequence});
  for (const Released& released : released_)
    if (during(released.ms) && released.partition == down.partition)
      ++(released.target == down.target ? counts.released : counts.released_others);
}

void FailureEvidence::count_end(const TargetOrder& order, OutageCounts& counts) const {
  const auto life = lives_.find(order);
  const auto newest = newest_.find(order.id);
  const bool given_up = std::any_of(dead_letters_.begin(), dead_letters_.end(), [&](const DeadLetter& letter) {
    return letter.id == order.id && letter.sequence == order.sequence && is_in(letter.targets, order.target);
  });
  if (life != lives_.end() && life->second.released)
    ++counts.released_later;
  else if (given_up)
    ++counts.given_up;
  else if (newest != newest_.end() && newest->second > order.sequence)
    ++counts.superseded;
  else
    ++counts.lost;
}

OutageCounts FailureEvidence::outage(std::int64_t from_ms, std::int64_t to_ms) const {
  OutageCounts counts;
  std::int64_t first = to_ms, last = from_ms;
  std::set<std::int32_t> partitions;
  std::set<TargetOrder> waited;
  for (Down down : downs_) {
    down.from_ms = std::max(down.from_ms, from_ms);
    down.to_ms = down.to_ms == 0 ? to_ms : std::min(down.to_ms, to_ms);
    if (down.from_ms >= down.to_ms) continue;
    partitions.insert(down.partition);
    first = std::min(first, down.from_ms);
    last = std::max(last, down.to_ms);
    count_during(down, counts, waited);
  }
  counts.partitions = partitions.size();
  counts.waited = waited.size();
  for (const TargetOrder& order : waited) count_end(order, counts);
  if (last > first) counts.seconds = static_cast<double>(last - first) / 1'000;
  return counts;
}

Result<FailureEvidence> FailureEvidence::read(const Settings& settings) {
  FailureEvidence evidence(settings.topic("requests"));
  const auto from = [&](const std::string& topic, auto take) {
    return read_topic(settings, topic, [&](const kafka::PlainRecord& record) { take(record); });
  };
  using Take = void (FailureEvidence::*)(const kafka::PlainRecord&);
  for (const auto& [role, take] :
       std::initializer_list<std::pair<const char*, Take>>{{"requests", &FailureEvidence::add_request},
                                                           {"work", &FailureEvidence::add_work},
                                                           {"commands", &FailureEvidence::add_command},
                                                           {"events", &FailureEvidence::add_event},
                                                           {"dead-letter", &FailureEvidence::add_dead_letter}})
    if (Result<> read = from(settings.topic(role), [&, add = take](const auto& record) { (evidence.*add)(record); });
        !read)
      return read.error();
  for (const std::string target : {Settings::kSearch, Settings::kCatalogue}) {
    Result<> read =
        from(settings.output_topic(target), [&](const auto& record) { evidence.add_output(target, record); });
    if (!read) return read.error();
  }
  evidence.finish();
  return evidence;
}

}  // namespace reseq::demo
