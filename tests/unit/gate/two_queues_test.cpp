// Two kinds of an agenda with references of their own. Played ahead, the first may take the room of the second: what
// the batch lets through must be there all the same until it is committed.
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "gated.h"
#include "latest_gate.h"

namespace reseq::runtime::queues {
namespace {

constexpr std::int64_t kDelay = 1'000;
constexpr std::int64_t kBytesMax = 20'000;

// Two queues by reference: what begins with `u` is of the first kind, everything else of the second. Each is due after
// a delay of its own.
class TwoQueues final : public gate::LatestGate {
 public:
  explicit TwoQueues(std::int64_t later) : LatestGate(kDelay), later_(later) {}
  static constexpr std::array<engine::AgendaKind, 2> kQueues = {
      {{kOwn.kinds[0].value(), "urgent", {}}, {kOwn.kinds[1].value(), "others", {}}}};
  static constexpr const char* prefix_of(std::uint8_t kind) { return kind == kQueues[0].number ? "1" : "2"; }
  [[nodiscard]] std::span<const engine::AgendaKind> agenda() const override { return kQueues; }
  [[nodiscard]] std::optional<UnixMs> next(std::uint8_t kind, const engine::Moment& moment) const override {
    const engine::StateView& view = moment.view;
    std::optional<UnixMs> next;
    const std::string prefix = prefix_of(kind);
    view.index(kOwnIndex, {}, SIZE_MAX, [&](std::string_view entry, std::string_view) {
      if (entry.substr(0, 1) == prefix && !next) next = UnixMs(std::stoll(std::string(entry.substr(1))));
      return true;
    });
    return next;
  }
  [[nodiscard]] std::optional<Hold> holds(const engine::Leaving& leaving, Arena& arena) const override {
    auto hold = LatestGate::holds(leaving, arena);
    const bool urgent = leaving.id[0] == 'u';
    const std::int64_t due = leaving.now.value() + kDelay + (urgent ? later_ : 0);
    hold->entries = {{kOwnIndex, arena.copy((urgent ? "1" : "2") + std::to_string(due))}};
    hold->reference = true;
    return hold;
  }
  void take(engine::Turn& turn, engine::GateBatch& batch) const override {
    std::vector<std::string> keys;
    const std::string prefix = prefix_of(turn.kind());
    batch.view().index(kOwnIndex, {}, SIZE_MAX, [&](std::string_view entry, std::string_view key) {
      if (entry.substr(0, 1) == prefix && UnixMs(std::stoll(std::string(entry.substr(1)))) <= turn.until())
        keys.emplace_back(key);
      return true;
    });
    for (const std::string& key : keys) {
      const auto row = batch.rows().find(key);
      if (row && !take_one(key, *row, turn, batch)) return;
    }
  }

 private:
  std::int64_t later_;
};

class TwoQueuesOfReferences : public Gated<1>, public ::testing::WithParamInterface<std::int64_t> {
 protected:
  TwoQueuesOfReferences() : Gated(queues) {
    application.settings.batch_bytes_max = kBytesMax;
    start();
  }
  TwoQueues queues{GetParam()};
};

TEST_P(TwoQueuesOfReferences, KeepWhatTheyLetThroughUntilItIsCommitted) {
  for (int i = 0; i < 3; ++i) request("b-document-" + std::to_string(i), 1, std::string(5'000, 'x'));
  for (int i = 0; i < 4; ++i) request("u-document-" + std::to_string(i), 1, std::string(5'000, 'y'));
  decide(7);
  ASSERT_EQ(held_now(), 7U);
  for (const std::int64_t until = clock.now().value() + 5 * kDelay; clock.now().value() < until;) step();
  EXPECT_EQ(committed("work").size(), 7U);
  EXPECT_EQ(held_now(), 0U);
}

// The urgent ones become due so many milliseconds behind the others.
INSTANTIATE_TEST_SUITE_P(Due, TwoQueuesOfReferences, ::testing::Range<std::int64_t>(0, 33, 3));

}  // namespace
}  // namespace reseq::runtime::queues
