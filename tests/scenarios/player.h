// Player: plays one case of a scenario file against the real engine, over a state in a map.
// Thread rule: one thread.
#pragma once

#include <deque>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "driver/batch_driver.h"
#include "scenario.h"
#include "state.h"
#include "tests/gate/window_gate.h"

namespace reseq::scenarios {

// What came of reading again what is held by reference: the same of all.
class AllReferences final : public engine::References {
 public:
  [[nodiscard]] Found find(const codec::HeldRow& held) override {
    (void)held;
    return found;
  }
  Found found = Found::kRead;
};

class Player {
 public:
  // REQUIRES: the case outlives the player.
  explicit Player(const Case& played);

  // One text per line that went otherwise than written: "file:line: expected …, got …".
  [[nodiscard]] std::vector<std::string> play();

 private:
  void play(const Line& line);
  void configure(const Line& line);
  void decide(const Line& line);
  void fire(const Line& line);
  void sweep(const Line& line);
  void turn(const Line& line);
  void decide_nothing(const Line& line);
  [[nodiscard]] const Wish* wish_of(const Line& line, std::uint64_t work_bytes);
  [[nodiscard]] std::string left() const;
  void note_versions();
  [[nodiscard]] std::string risen(Version version) const;
  [[nodiscard]] std::string told() const;
  [[nodiscard]] std::string marked() const;
  [[nodiscard]] std::string held() const;
  [[nodiscard]] std::string lanes() const;
  [[nodiscard]] bool is_held(InputIndex input) const;
  void stand_gate(const std::string& window_ms, std::uint64_t reference_above);
  void open_batch();
  void close_batch(const driver::Agenda& agenda = {});
  [[nodiscard]] const engine::Batch& batch() const { return driver_->batch(); }
  [[nodiscard]] Command command_of(const Line& line);
  [[nodiscard]] Registration registration_of(const Line& line);
  [[nodiscard]] std::string outcome_of_input(InputIndex input);
  void compare(const Line& line, const std::string& got);

  const Case& case_;
  engine::Context context_;
  State state_;
  std::optional<gate::WindowGate> gate_;
  AllReferences references_;
  std::optional<Milliseconds> reference_age_;
  std::deque<std::vector<Header>> headers_;
  std::deque<std::pair<std::string, std::string>> texts_;  // of headers
  std::deque<Wish> wishes_;
  std::string left_, told_, marked_;  // of the last batch
  std::unique_ptr<driver::BatchDriver> driver_;
  std::vector<const Line*> inputs_;  // by InputIndex of the open batch
  bool grouped_ = false;             // between { and }
  Offset next_{0};
  Version last_release_;
  std::set<Version> fallen_;  // versions of the last batch that are not above all before them
  std::vector<std::string> failures_;
};

}  // namespace reseq::scenarios
