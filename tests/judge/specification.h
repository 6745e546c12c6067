// Specification: what those who wrote the inputs of an application asked for, told by themselves and not by the
// engine's tables. The judge compares it with what came out.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/judge/record.h"

namespace reseq::judge {

// What a good request asked for.
struct Asked {
  std::string id;
  std::optional<std::uint32_t> epoch;  // none: the partition's default
  std::uint64_t sequence = 0;
  bool removal = false;
  std::optional<std::vector<std::string>> targets;  // none: the default
  std::optional<std::string> payload;               // none: null; what the result of it holds, byte by byte
  // What it wishes of the journal.
  std::optional<std::uint8_t> priority = {};
  std::optional<UnixMs> process_at = {};
  std::optional<UnixMs> expires_at = {};
};

// One target of one order, whatever its revision.
struct Piece {
  std::string id;
  std::string target;
  std::uint32_t epoch = 0;
  std::uint64_t sequence = 0;
  friend auto operator<=>(const Piece&, const Piece&) = default;
};

class Specification {
 public:
  virtual ~Specification() = default;

  // What a record of `requests` asked for. None: nothing, it is bad or a RESET.
  [[nodiscard]] virtual std::optional<Asked> asked(const Record& request) const = 0;

  // Whose result will perhaps never be released: lost, given up, too large, or never known to the pipeline.
  [[nodiscard]] virtual bool excused(const Piece& piece) const = 0;

  // Retention takes requests that are under way: one whose lease is lost then is given up.
  [[nodiscard]] virtual bool requests_go() const { return false; }
};

}  // namespace reseq::judge
