#include "admin/answers.h"

#include <algorithm>
#include <vector>

#include "admin/json_text.h"
#include "codec/decimal.h"

namespace reseq::admin {

namespace {

// More than there can be: what replies say comes from outside.
constexpr std::int64_t kPartitionsMax = 10'000;
constexpr std::size_t kInstancesMax = 1'000;

bool is_parked(const Json& part) {
  return member(part, "parked").is_object();
}

// An answer that says something stands above a refusal; of two the later generation, then the later position.
bool is_better(const Json& one, const Json& other) {
  const bool says = !one.contains("refused");
  if (says == other.contains("refused")) return says;
  const auto generation = number_in(one, "generation");
  const auto other_generation = number_in(other, "generation");
  if (generation != other_generation) return generation > other_generation;
  return number_in(one, "changelog_position") > number_in(other, "changelog_position");
}

}  // namespace

void Answers::add(const Json& reply) {
  total_ = std::min(std::max(total_, number_in(reply, "partitions_total")), kPartitionsMax);
  if (const auto refused = reply.find("refused"); refused != reply.end() && refused->is_object()) {
    refused_ = text_in(*refused, "reason") + ": " + text_in(*refused, "detail");
    return;
  }
  const std::string instance = text_in(reply, "instance");
  if (replies_.size() >= kInstancesMax && !replies_.contains(instance)) return;
  replies_[instance] = reply;
  const auto parts = reply.find("partitions");
  if (parts == reply.end() || !parts->is_array()) return;
  for (const Json& part : *parts) {
    const std::int64_t partition = number_in(part, "partition", -1);
    if (!part.is_object() || partition < 0 || partition >= kPartitionsMax) continue;
    Json own = part;
    own["instance"] = instance;
    if (reply.contains("host")) own["host"] = text_in(reply, "host");
    const auto [known, is_new] = partitions_.try_emplace(partition, own);
    if (!is_new && is_better(own, known->second)) known->second = own;
  }
}

bool Answers::complete() const {
  return lacking().empty();
}

std::string Answers::lacking(const std::function<bool(const Json& part)>& is_fit) const {
  if (total_ == 0) return "all";
  std::string text;
  for (std::int64_t i = 0; i < total_; ++i) {
    const auto found = partitions_.find(i);
    if (found != partitions_.end() && !found->second.contains("refused") && (!is_fit || is_fit(found->second)))
      continue;
    text += (text.empty() ? "" : ", ") + std::to_string(i);
  }
  return text;
}

bool Answers::all_asked() const {
  if (replies_.empty()) return false;
  std::int64_t answered = 0;
  for (const auto& [partition, part] : partitions_) answered += part.contains("refused") ? 0 : 1;
  return answered >= number_in(replies_.begin()->second, "partitions_asked", INT64_MAX);
}

bool Answers::rest_is_parked() const {
  if (replies_.empty()) return false;
  std::int64_t settled = 0;
  for (const auto& [partition, part] : partitions_) settled += part.contains("refused") && !is_parked(part) ? 0 : 1;
  return settled >= number_in(replies_.begin()->second, "partitions_asked", INT64_MAX);
}

std::string Answers::parked() const {
  std::string text;
  for (const auto& [partition, part] : partitions_)
    if (part.contains("refused") && is_parked(part)) text += (text.empty() ? "" : ", ") + std::to_string(partition);
  return text;
}

std::string Answers::parked_why() const {
  for (const auto& [partition, part] : partitions_)
    if (part.contains("refused") && is_parked(part)) {
      const Json parked = member(part, "parked");
      const std::string step = text_in(parked, "first_step", "");  // of an older version: none
      return text_in(parked, "reason") + ": " + text_in(parked, "detail") + (step.empty() ? "" : ": " + step);
    }
  return {};
}

Json Answers::parts() const {
  Json parts = Json::array();
  for (const auto& [partition, part] : partitions_) parts.push_back(part);
  return parts;
}

std::int64_t surveyed(const Answers& answers) {
  return std::count_if(answers.partitions().begin(), answers.partitions().end(), [](const auto& one) {
    return text_in(one.second, "state", "") == "running" && member(one.second, "documents").contains("surveyed");
  });
}

Json targets_of(const Answers& answers) {
  std::vector<std::string> order;  // as the first instance has them
  std::map<std::string, Json> targets;
  for (const auto& [instance, reply] : answers.replies())
    for (const Json& told : member(reply, "targets")) {
      const auto [found, is_new] = targets.try_emplace(text_in(told, "target"), Json::object());
      Json& sum = found->second;
      if (is_new) order.push_back(found->first);
      sum["target"] = found->first;
      if (told.contains("order")) sum["order"] = told["order"];
      sum["released"] = number_in(sum, "released") + number_in(told, "released");
      const auto rate = told.find("per_s");
      sum["per_s"] = sum.value("per_s", 0.0) + (rate != told.end() && rate->is_number() ? rate->get<double>() : 0.0);
      const std::int64_t quiet = number_in(told, "quiet_ms", INT64_MAX);
      sum["quiet_ms"] = std::min(number_in(sum, "quiet_ms", INT64_MAX), quiet);
      // What it has released none of since it began, it may have released before.
      if (number_in(told, "released") > 0)
        sum["released_ms_ago"] = std::min(number_in(sum, "released_ms_ago", INT64_MAX), quiet);
    }
  for (const auto& [partition, part] : answers.partitions()) {
    const Json documents = member(part, "documents");
    if (!documents.is_object() || !documents.contains("surveyed")) continue;
    for (auto& [name, sum] : targets) {
      const Json told = member(member(documents, "by_target"), name.c_str());
      for (const char* count : {"waiting", "overdue"}) sum[count] = number_in(sum, count) + number_in(told, count);
      const std::string since = text_in(told, "oldest_waits_since", "");
      if (!since.empty() && (!sum.contains("oldest_waits_since") || since < text_in(sum, "oldest_waits_since")))
        sum["oldest_waits_since"] = since;
    }
  }
  Json all = Json::array();
  for (const std::string& name : order) all.push_back(targets[name]);
  return all;
}

Json queue_of(const Answers& answers) {
  std::map<std::int64_t, Json> queue;
  for (const auto& [partition, part] : answers.partitions()) {
    const Json told = member(member(part, "documents"), "by_priority");
    if (!told.is_object()) continue;
    for (const auto& [name, one] : told.items()) {
      const auto priority = codec::parse_decimal<std::uint8_t>(name);
      if (!priority) continue;
      Json& sum = queue.try_emplace(*priority, Json::object()).first->second;
      sum["priority"] = *priority;
      for (const char* count : {"waiting", "processing"}) sum[count] = number_in(sum, count) + number_in(one, count);
      const std::string since = text_in(one, "due_since", "");
      if (!since.empty() && (!sum.contains("due_since") || since < text_in(sum, "due_since"))) sum["due_since"] = since;
    }
  }
  Json all = Json::array();
  for (auto& [priority, one] : queue) all.push_back(std::move(one));
  return all;
}

Json waits_of(const Answers& answers) {
  Json sum = {{"ended", Json::object()}, {"leases_lost", 0}, {"body_gone", 0}, {"dispatched_per_s", 0.0}};
  for (const auto& [instance, reply] : answers.replies()) {
    const Json waits = member(reply, "waits");
    const Json ended = member(waits, "ended");
    for (const char* end : {"dispatched", "expired", "dropped", "dead_lettered"})
      sum["ended"][end] = number_in(sum["ended"], end) + number_in(ended, end);
    for (const char* count : {"leases_lost", "body_gone"}) sum[count] = number_in(sum, count) + number_in(waits, count);
    const Json rate = member(waits, "dispatched_per_s");
    if (rate.is_number()) sum["dispatched_per_s"] = sum["dispatched_per_s"].get<double>() + rate.get<double>();
  }
  return sum;
}

Json lanes_of(const Answers& answers) {
  Json sum;
  for (const auto& [instance, reply] : answers.replies()) {
    const Json lanes = member(reply, "lanes");
    if (!lanes.is_object()) continue;
    for (const char* count : {"held_released", "gaps"}) sum[count] = number_in(sum, count) + number_in(lanes, count);
  }
  return sum;
}

}  // namespace reseq::admin
