// What was held leaves as if it had not waited, header by header.
#include <functional>
#include <gtest/gtest.h>

#include "gated.h"
#include "latest_gate.h"

namespace reseq::runtime {
namespace {

using gate::LatestGate;
using test::good;

const LatestGate kAfterAMoment(1);

// An application of its own.
class Played : public Gated<1> {
 public:
  Played() : Gated(kAfterAMoment) {}
  void TestBody() override {}
  // Header by header, of all work.
  std::vector<std::string> work_of(bool gated, std::size_t body) {
    if (!gated) application.gate = nullptr;
    for (const char* topic : {"app.requests", "app.work", "app.changelog"})
      broker.facts(*broker.topic(topic)).max_message_bytes = 40'000'000;
    good(application.ask(*kafka, simulation::kLimit));
    const std::vector<std::vector<simulation::StoredHeader>> kinds = {
        {{"reseq-seq", "7"}},
        {{"reseq-seq", "7"}, {"x", std::nullopt}, {"x", "1"}, {"", ""}, {"x", "2"}},
        {{"reseq-seq", "7"}, {"reseq-epoch", "0"}, {"reseq-targets", "search"}},
        {{"reseq-seq", "6"}, {"reseq-seq", "7"}, {"reseq-version", "9"}, {"reseq-op", "delete"}},
        {{"reseq-seq", "7"}, {"reseq-epoch", "3"}, {"reseq-command", std::nullopt}},
        {{"reseq-seq", "7"}, {"reseq-reprocess", "true"}},
        {{"reseq-seq", "7"}, {std::string(300, 'n'), std::string(5000, 'v')}},
    };
    int n = 0;
    for (const auto& headers : kinds)
      for (const std::optional<std::string>& payload :
           {std::optional<std::string>(), std::optional<std::string>(""), std::optional(std::string(body, 'p'))})
        broker.append({*broker.topic("app.requests"), Partition(0)},
                      {id_in(Partition(0), n++), payload, headers, UnixMs(broker.now().value() - 5)});
    worker = std::make_unique<Worker>(application, *kafka, clock, shelf, [] { return HashKey{}; });
    for (int i = 0; i < 500; ++i) step();
    EXPECT_EQ(worker->totals().inputs, static_cast<std::uint64_t>(n));
    std::vector<std::string> told;
    const simulation::Log& of = log("work");
    for (const auto* entry = of.next_committed(Offset(0)); entry != nullptr;
         entry = of.next_committed(Offset(entry->offset.value() + 1))) {
      std::string text = entry->record->key.value_or("null") + " ";
      text += entry->record->payload ? std::to_string(entry->record->payload->size()) + ":" +
                                           std::to_string(std::hash<std::string>()(*entry->record->payload))
                                     : "null";
      for (const auto& header : entry->record->headers)
        text += " " + header.name.substr(0, 20) + "=" + header.value.value_or("null").substr(0, 20);
      told.push_back(text);
    }
    std::sort(told.begin(), told.end());
    return told;
  }
};

TEST(LeavingLater, IsAsLeavingAtOnce) {
  constexpr std::size_t kBody = 100'000;
  const std::vector<std::string> at_once = Played().work_of(false, kBody);
  EXPECT_GT(at_once.size(), 15U);
  EXPECT_EQ(Played().work_of(true, kBody), at_once);
}

}  // namespace
}  // namespace reseq::runtime
