// A consumed record that owns its bytes, and the table of targets that the tests of the wire contract use.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/hash.h"
#include "codec/wire.h"

namespace reseq::codec {

class SampleRecord {
 public:
  explicit SampleRecord(Role role) : role_(role) {}

  static SampleRecord request() { return SampleRecord(Role::kRequests).with("reseq-seq", "7"); }
  static SampleRecord command(std::string name) {
    return SampleRecord(Role::kCommands).with("reseq-command", std::move(name)).with("reseq-seq", "7");
  }

  SampleRecord& with(std::string name, std::optional<std::string> value) & {
    headers_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  SampleRecord&& with(std::string name, std::optional<std::string> value) && {
    return std::move(with(std::move(name), std::move(value)));
  }
  SampleRecord&& without(std::string_view name) && {
    std::erase_if(headers_, [name](const auto& header) { return header.first == name; });
    return std::move(*this);
  }
  SampleRecord&& key(std::optional<std::string> key) && {
    key_ = std::move(key);
    return std::move(*this);
  }
  SampleRecord&& payload(std::optional<std::string> payload) && {
    payload_ = std::move(payload);
    return std::move(*this);
  }

  // Valid until the sample is changed or destroyed.
  [[nodiscard]] InputRecord view() const {
    views_.clear();
    for (const auto& [name, value] : headers_)
      views_.push_back({name, value ? std::optional<std::string_view>(*value) : std::nullopt});
    const auto optional_view = [](const std::optional<std::string>& text) {
      return text ? std::optional<std::string_view>(*text) : std::nullopt;
    };
    return {role_,
            Partition(0),
            Offset(42),
            UnixMs(1'709'164'800'000),
            optional_view(key_),
            optional_view(payload_),
            views_,
            {}};
  }

 private:
  Role role_;
  std::optional<std::string> key_ = "doc-1";
  std::optional<std::string> payload_ = "payload";
  std::vector<std::pair<std::string, std::optional<std::string>>> headers_;
  mutable std::vector<Header> views_;
};

inline Command decoded(InputRecord view, const DecodeContext& context) {
  return decode(view, context);
}

inline const TargetTable& two_targets() {
  static const TargetTable table({"search", "catalogue"});
  return table;
}

inline const TargetTable& one_target() {
  static const TargetTable table({"search"});
  return table;
}

// Of a topic with one partition.
inline DecodeContext decode_context(const TargetTable& table = two_targets()) {
  return {&table, SequenceKind::kU64, Partitioner::kMurmur2, 1, false};
}

inline const TargetNumber kSearch{0};
inline const TargetNumber kCatalogue{1};

inline const Sequence kSeven{std::string_view("\0\0\0\0\0\0\0\7", 8)};

}  // namespace reseq::codec
