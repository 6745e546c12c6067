#include "runtime/desk/page_memory.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "admin/json_text.h"
#include "codec/timestamp_text.h"
#include "model/effects.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

namespace {

using admin::Json;
using admin::member;

constexpr std::int64_t kNanosecondsPerMs = 1'000'000;

// Null when none of them tells.
template <typename Number>
Json sum_of(const Json& parts, const std::function<Json(const Json& part)>& of) {
  std::optional<Number> sum;
  for (const Json& part : parts)
    if (const Json told = of(part); told.is_number()) sum = sum.value_or(0) + told.get<Number>();
  return sum ? Json(*sum) : Json();
}

Json since_ms(const Json& parts, UnixMs now) {
  bool looked = false;
  std::string oldest;  // times of one format compare as texts
  for (const Json& part : parts) {
    const Json documents = member(part, "documents");
    looked = looked || documents.contains("overdue");
    const std::string since = admin::text_in(documents, "oldest_waits_since", "");
    if (!since.empty() && (oldest.empty() || since < oldest)) oldest = since;
  }
  if (!looked) return nullptr;
  if (oldest.empty()) return 0;
  const auto time = codec::parse_timestamp(oldest);
  return time ? Json(std::max<std::int64_t>(0, now.value() - *time / kNanosecondsPerMs)) : Json();
}

}  // namespace

Json chart_point(const admin::Answers& answers, UnixMs now) {
  const Json parts = answers.parts();
  const Json whole = answers.complete() ? parts : Json::array();
  Json point = {{"t", now.value()}};
  for (const auto name : kOutcomeNames)
    point["outcomes"][std::string(name)] = sum_of<double>(parts, [&](const Json& part) {
      const Json rates = member(part, "per_s");
      if (!rates.is_object()) return Json();
      const auto rate = rates.find(name);
      return rate == rates.end() ? Json(0.0) : *rate;
    });
  for (const char* input : kInputNames)
    point["lag"][input] = sum_of<std::int64_t>(
        whole, [&](const Json& part) { return member(member(member(part, "inputs"), input), "lag"); });
  for (const char* name : {"live", "overdue", "starving"})
    point["live"][name] =
        sum_of<std::int64_t>(whole, [&](const Json& part) { return member(member(part, "documents"), name); });
  point["oldest"]["oldest"] = since_ms(whole, now);
  return point;
}

bool tells_of_another(const Json& reply, const config::Settings& own) {
  return admin::text_in(reply, "query") == "stats" && admin::text_in(reply, "application") == own.application_id &&
         admin::text_in(reply, "instance") != own.instance_id;
}

void PageMemory::hear(const Json& reply, UnixMs at) {
  const std::string instance = admin::text_in(reply, "instance");
  Json who = Json::object();
  for (const char* name : {"instance", "host", "version"})
    if (const std::string text = admin::text_in(reply, name, ""); !text.empty() && text.size() <= kNameBytesMax)
      who[name] = text;
  if (const Json workers = member(reply, "workers"); workers.is_number()) who["workers"] = workers;
  keep(instance, {std::move(who), at});
}

void PageMemory::hear(const PageMemory& other) {
  for (const auto& [instance, heard] : other.instances_) keep(instance, heard);
}

// Names come from outside: of too many the oldest goes.
void PageMemory::keep(const std::string& instance, Heard heard) {
  if (instance.size() > kNameBytesMax) return;
  const auto [known, is_new] = instances_.try_emplace(instance, heard);
  if (!is_new && known->second.at <= heard.at) known->second = std::move(heard);
  if (instances_.size() <= kInstancesMax) return;
  instances_.erase(std::min_element(instances_.begin(), instances_.end(), [](const auto& one, const auto& other) {
    return one.second.at < other.second.at;
  }));
}

void PageMemory::take(const admin::Answers& answers, UnixMs now) {
  for (const auto& [instance, reply] : answers.replies()) {
    instances_.erase(instance);  // this is the newest, also when the clock was set back
    hear(reply, now);
  }
  const UnixMs begin(now.value() - kSpan.value());
  std::erase_if(instances_, [&](const auto& one) { return one.second.at < begin; });
  if (pointed_at_ <= now && now.value() - pointed_at_.value() < kBetweenPoints.value()) return;
  pointed_at_ = now;
  points_.push_back(chart_point(answers, now));
  if (points_.size() > kPointsMax) points_.pop_front();
}

Json PageMemory::history(UnixMs now) const {
  Json points = Json::array();
  for (const Json& point : points_)
    if (const std::int64_t t = point["t"]; t >= now.value() - kSpan.value() && t <= now.value())
      points.push_back(point);
  return points;
}

Json PageMemory::silent(const admin::Answers& answers, UnixMs now) const {
  Json all = Json::array();
  for (const auto& [instance, heard] : instances_) {
    if (answers.replies().contains(instance) || heard.at.value() < now.value() - kSpan.value()) continue;
    Json who = heard.who;
    who["heard"] = admin::time_text(heard.at);
    all.push_back(std::move(who));
  }
  return all;
}

}  // namespace reseq::runtime
