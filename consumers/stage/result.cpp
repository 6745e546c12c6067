#include "consumers/stage/result.h"

#include <algorithm>
#include <string_view>

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
  }
  return {};
}

std::vector<OwnedHeader> own_headers(const StageResult& result) {
  std::vector<OwnedHeader> own;
  own.push_back({"reseq-command", std::string(command_name(result.answer))});
  if (!result.target.empty()) {
    // REGISTER names a list; UNREGISTER uses reseq-target, because a reseq-targets copied from `work` means nothing.
    own.push_back({result.answer == Answer::kRegister ? "reseq-targets" : "reseq-target", result.target});
  }
  if (result.op) own.push_back({"reseq-op", *result.op == Op::kDelete ? "delete" : "upsert"});
  if (result.observed) own.push_back({"reseq-observed-version", std::to_string(result.observed->value())});
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
