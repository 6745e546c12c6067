#include "consumers/stage/result.h"

#include <algorithm>
#include <string_view>

#include "base/utf8.h"
#include "codec/failure_words.h"
#include "codec/header_names.h"
#include "codec/target_names.h"
#include "model/row.h"

namespace reseq::stage {
namespace {

std::string_view command_name(Answer answer) {
  switch (answer) {
    case Answer::kSequence:
      return "sequence";
    case Answer::kRegister:
      return "register";
    case Answer::kUnregister:
      return "unregister";
    case Answer::kFail:
      return "fail";
  }
  return {};
}

void add_failure(const WorkFailure& failure, std::vector<OwnedHeader>& own) {
  own.push_back({std::string(codec::header::kFailure), std::string(codec::name_of(failure.kind))});
  own.push_back({std::string(codec::header::kFailureScope), std::string(codec::name_of(failure.scope))});
  if (failure.without_effect) own.push_back({std::string(codec::header::kEffect), "none"});
  if (!failure.error.empty())
    own.push_back({std::string(codec::header::kError), std::string(cut_at_character(failure.error, kMaxErrorBytes))});
}

std::vector<OwnedHeader> own_headers(const StageResult& result) {
  std::vector<OwnedHeader> own;
  own.push_back({"reseq-command", std::string(command_name(result.answer))});
  if (!result.target.empty()) {
    // REGISTER names a list; UNREGISTER uses reseq-target, because a reseq-targets copied from `work` means nothing.
    own.push_back({result.answer == Answer::kRegister ? "reseq-targets" : "reseq-target", result.target});
  } else if (result.answer == Answer::kFail) {
    own.push_back({"reseq-target", "*"});
  }
  if (result.op) own.push_back({"reseq-op", *result.op == Op::kDelete ? "delete" : "upsert"});
  if (result.observed) own.push_back({"reseq-observed-version", std::to_string(result.observed->value())});
  if (result.answer == Answer::kFail) add_failure(result.failure, own);
  own.insert(own.end(), result.headers.begin(), result.headers.end());
  return own;
}

}  // namespace

std::vector<OwnedHeader> result_headers(std::span<const OwnedHeader> work, const StageResult& result) {
  const std::vector<OwnedHeader> own = own_headers(result);
  std::vector<OwnedHeader> headers;
  headers.reserve(work.size() + own.size());
  for (const OwnedHeader& header : work) {
    const bool replaced =
        std::any_of(own.begin(), own.end(), [&](const OwnedHeader& mine) { return mine.name == header.name; });
    if (!replaced) headers.push_back(header);
  }
  headers.insert(headers.end(), own.begin(), own.end());
  return headers;
}

std::vector<std::string> targets_of(std::span<const OwnedHeader> work) {
  const auto list = last_header(work, "reseq-targets");
  return list && *list ? codec::names_in(**list) : std::vector<std::string>();
}

std::vector<StageResult> asked_for(std::span<const OwnedHeader> work, std::vector<StageResult> answers) {
  std::vector<std::string> asked = targets_of(work);
  if (asked.empty()) return answers;
  for (const StageResult& answer : answers) {
    if (answer.answer != Answer::kRegister) continue;
    const std::vector<std::string> registered = codec::names_in(answer.target);
    asked.insert(asked.end(), registered.begin(), registered.end());
  }
  std::erase_if(answers, [&](const StageResult& answer) {
    if (answer.answer == Answer::kRegister || answer.target.empty() || answer.target == "*") return false;
    return std::find(asked.begin(), asked.end(), answer.target) == asked.end();
  });
  return answers;
}

std::optional<std::optional<std::string>> last_header(std::span<const OwnedHeader> headers, std::string_view name) {
  for (auto header = headers.rbegin(); header != headers.rend(); ++header)
    if (header->name == name) return header->value;
  return std::nullopt;
}

std::vector<Header> views_of(std::span<const OwnedHeader> headers) {
  std::vector<Header> views;
  views.reserve(headers.size());
  for (const OwnedHeader& header : headers)
    views.push_back({header.name, header.value ? std::optional<std::string_view>(*header.value) : std::nullopt});
  return views;
}

}  // namespace reseq::stage
