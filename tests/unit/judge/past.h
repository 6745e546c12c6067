// Past: what a simulated world committed, to be judged as it is or with something wrong in it.
// Thread rule: one thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/judge/review.h"
#include "tests/simulation/world/world.h"

namespace reseq::judge {

// A world with two partitions and everything that a check needs something of; played once for all tests.
class Past {
 public:
  [[nodiscard]] static const Past& shared();

  [[nodiscard]] const runtime::Application& application() const { return world_->application(); }
  [[nodiscard]] const History& history() const { return world_->history(); }
  [[nodiscard]] const Specification& specification() const { return world_->specification(); }
  [[nodiscard]] Place changelog() const;
  [[nodiscard]] Place requests() const;
  [[nodiscard]] std::size_t work() const;
  // Of the first target.
  [[nodiscard]] std::size_t output() const;

  // What a record becomes: one, none, several. Offsets that do not rise are corrected.
  using Edit = std::function<std::vector<Record>(Place, const Record&)>;
  [[nodiscard]] std::unique_ptr<History> edited(const Edit& edit) const;
  // The same with one record exchanged, or with none for it.
  [[nodiscard]] std::unique_ptr<History> with(Place place, Offset offset, const std::optional<Record>& instead) const;
  // With one more at the end of a log.
  [[nodiscard]] std::unique_ptr<History> with_added(Place place, Record more) const;

  // Names of the checks that find something, each once.
  [[nodiscard]] std::vector<std::string> found(const History& history) const;
  [[nodiscard]] std::vector<std::string> found(const History& history, const Specification& specification) const;

 private:
  Past() = default;
  [[nodiscard]] bool is_rich() const;
  std::unique_ptr<simulation::World> world_;
};

}  // namespace reseq::judge
