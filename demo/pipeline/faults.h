// Faults: what the workers of the demo cannot do, and what they say of it. Each is a function of what is in the
// document, of (seed, target, id, sequence), or of the search engine, so that whoever knows the history knows what has
// to fail:
//
//   permanent, document    a file named *.json that is no JSON, for all targets; a file with a NUL byte, which is no
//                          text, for `search`
//   transient, universal   `search` while its engine is down
//   permanent, universal   `search` while its engine has no index
//   unknown, document      some documents, for one target each time, with the same exception at every attempt
//   transient, document    some changes, for one target, at the first attempt or the first two
//
// A deletion needs none of this but the search engine. Some results are lost as well, where that is asked for: nobody
// says anything of them, and nobody knows better. That depends on (seed, target, id, sequence), too.
// Thread rule: pure, but for the search engine, which is a file that is read at each call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "consumers/stage/result.h"
#include "demo/pipeline/treatment.h"

namespace reseq::demo {

// The target that has an engine.
inline constexpr std::string_view kEngineTarget = "search";

enum class SearchEngine : unsigned char { kUp, kDown, kNoIndex };
// What the file says: `up`, `down` or `no-index`. One that cannot be read is an engine that is down.
[[nodiscard]] SearchEngine search_engine(const std::string& file);
[[nodiscard]] std::string_view name_of(SearchEngine engine);

// Why nobody can read this file for the target; empty: it can be read.
[[nodiscard]] std::optional<std::string> unreadable(std::string_view target, std::string_view path,
                                                    std::string_view content);
// Work on this document for this target ends with an exception.
[[nodiscard]] bool throws(Seed seed, std::string_view target, std::string_view id);
// So many first attempts of this change meet a lock.
[[nodiscard]] std::uint32_t locked_attempts(Seed seed, std::string_view target, std::string_view id,
                                            std::string_view sequence);

// The result of this change for this target is lost.
[[nodiscard]] bool loses(Seed seed, std::string_view target, std::string_view id, std::string_view sequence);

// What a worker is about to do.
struct Task {
  std::string_view target;
  std::string_view id;
  std::string_view sequence;
  std::uint32_t attempt = 1;
  std::optional<std::string_view> payload{};  // none: a deletion
};

class Faults {
 public:
  // No file: nothing fails. `losing`: targets whose results may be lost.
  Faults(Seed seed, std::string engine_file, std::vector<std::string> losing = {})
      : seed_(seed), engine_file_(std::move(engine_file)), losing_(std::move(losing)) {}

  [[nodiscard]] std::optional<stage::WorkFailure> of(const Task& task) const;
  [[nodiscard]] bool lost(std::string_view target, std::string_view id, std::string_view sequence) const;

 private:
  Seed seed_;
  std::string engine_file_;
  std::vector<std::string> losing_;
};

}  // namespace reseq::demo
