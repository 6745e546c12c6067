// VersionOrder: the versions that somebody got, one after the other, against those that he has to get, in their order.
// Nothing is known here of lanes, places or gaps: two lists are compared.
// Thread rule: plain values, pure functions.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "demo/compare/history.h"

namespace reseq::demo {

// A document as of a change of it.
struct VersionName {
  std::string document;
  std::uint64_t sequence = 0;
  friend auto operator<=>(const VersionName&, const VersionName&) = default;
};
[[nodiscard]] std::string text_of(const VersionName& name);

struct DocumentVersion {
  VersionName name;
  std::optional<std::uint64_t> content{};  // content_hash(); none: a deletion
};

// Tells contents apart, and an empty one from none.
[[nodiscard]] std::uint64_t content_hash(std::string_view content);

// What the history of this commit consists of, in its order.
Result<std::vector<DocumentVersion>> read_versions(const std::string& repository,
                                                   const std::vector<PathChange>& history,
                                                   const std::string& scratch_folder);

enum class OrderOf : unsigned char {
  kEverything,  // all versions have one order
  kDocuments,   // those of each document
};

struct OrderComparison {
  std::uint64_t expected = 0;
  std::uint64_t right = 0;          // came once, behind all that are before it, with its content
  std::uint64_t missing = 0;        // never came
  std::uint64_t twice = 0;          // came again
  std::uint64_t out_of_order = 0;   // came behind a later one
  std::uint64_t other_content = 0;  // came with what another version has
  std::uint64_t unexpected = 0;     // nobody is to get it
  std::vector<std::string> examples{};

  [[nodiscard]] bool all_right() const {
    return right == expected && missing + twice + out_of_order + other_content + unexpected == 0;
  }
};

// REQUIRES: no version is expected twice.
[[nodiscard]] OrderComparison compare_order(const std::vector<DocumentVersion>& expected,
                                            const std::vector<DocumentVersion>& got, OrderOf order);

}  // namespace reseq::demo
