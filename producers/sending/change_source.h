// ChangeSource: a stream of changes that is the same whenever it is read again, so that a producer that was killed goes
// on where the last acknowledged record was.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "producers/tagging/change.h"

namespace reseq::sending {

// A place between two items of a stream.
struct Mark {
  std::uint64_t position = 0;  // counted by the source from the beginning of the stream
  std::string token;           // what the stream looked like there: tells a changed input from a longer one

  friend bool operator==(const Mark&, const Mark&) = default;
};

// An item of the input that is no request.
struct Unusable {
  std::string reason;
};

using Item = std::variant<tagging::Change, Unusable>;

// Something the source counted that is not an item, for the final line.
struct Tally {
  std::string_view name;
  std::uint64_t count = 0;
};

class ChangeSource {
 public:
  virtual ~ChangeSource() = default;

  // One line that names the stream and the options its items depend on. A mark belongs to exactly one such name.
  [[nodiscard]] virtual std::string stream() const = 0;

  // Goes on after `mark`. kInvalid: the stream is not the one the mark was made of. REQUIRES: before the first next().
  virtual Result<> resume_after(const Mark& mark) = 0;

  // The next item, nothing at the end of the stream. kRetriable: interrupted by a signal, call again.
  virtual Result<std::optional<Item>> next() = 0;

  // The place behind the item that next() gave last.
  [[nodiscard]] virtual Mark mark() const = 0;

  // Where in the input that item stands, for a person ("line 12").
  [[nodiscard]] virtual std::string place() const = 0;

  // How many items next() gives from where the stream was begun or resumed, where that is known.
  [[nodiscard]] virtual std::optional<std::uint64_t> items_to_come() const = 0;

  [[nodiscard]] virtual std::vector<Tally> tallies() const { return {}; }
};

}  // namespace reseq::sending
