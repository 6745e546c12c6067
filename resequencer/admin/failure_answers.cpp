#include "admin/failure_answers.h"

#include <algorithm>
#include <map>
#include <vector>

#include "admin/json_text.h"

namespace reseq::admin {

namespace {

void add_counts(Json& sum, const Json& told) {
  for (const char* count : {"failed", "retrying"}) sum[count] = number_in(sum, count) + number_in(told, count);
}

void add_error(Json& sum, const Json& told) {
  add_counts(sum, told);
  for (const char* name : {"error", "error_base64"})
    if (told.contains(name)) sum[name] = told[name];
  const std::string last = text_in(told, "last", "");
  if (last > text_in(sum, "last", "")) sum["last"] = last;
  Json& examples = sum["examples"];
  if (!examples.is_array()) examples = Json::array();
  for (const Json& example : member(told, "examples"))
    if (example.is_object() && examples.size() < kExamplesMax) examples.push_back(example);
}

std::int64_t documents_of(const Json& error) {
  return number_in(error, "failed") + number_in(error, "retrying");
}

}  // namespace

Json failures_of(const Answers& answers) {
  Json all = {{"failed", 0}, {"retrying", 0}};
  Json others = {{"failed", 0}, {"retrying", 0}};
  std::map<std::string, Json> errors;
  for (const auto& [instance, reply] : answers.replies()) {
    const Json told = member(reply, "failures");
    if (!told.is_object()) continue;
    add_counts(all, told);
    add_counts(others, member(told, "others"));
    for (const Json& error : member(told, "errors"))
      if (error.is_object()) add_error(errors[raw_bytes_in(error, "error")], error);
  }
  if (documents_of(all) == 0) return nullptr;
  std::vector<const Json*> largest;
  for (const auto& [text, error] : errors) largest.push_back(&error);
  std::stable_sort(largest.begin(), largest.end(),
                   [](const Json* a, const Json* b) { return documents_of(*a) > documents_of(*b); });
  all["errors"] = Json::array();
  for (std::size_t i = 0; i < largest.size(); ++i) {
    if (i < kErrorsMax)
      all["errors"].push_back(*largest[i]);
    else
      add_counts(others, *largest[i]);
  }
  if (documents_of(others) > 0) all["others"] = std::move(others);
  return all;
}

Json breaker_changes_of(const Answers& answers) {
  std::vector<Json> all;
  for (const auto& [instance, reply] : answers.replies())
    for (Json change : member(reply, "breaker_changes")) {
      if (!change.is_object()) continue;
      change["instance"] = instance;
      all.push_back(std::move(change));
    }
  std::stable_sort(all.begin(), all.end(),
                   [](const Json& a, const Json& b) { return text_in(a, "at", "") > text_in(b, "at", ""); });
  all.resize(std::min(all.size(), kBreakerChangesMax));
  return all;
}

}  // namespace reseq::admin
