// Pieces of good records and noise, put together at random: whatever comes out must be a command or a reason.
#include <gtest/gtest.h>
#include <random>

#include "codec/command_decoder.h"
#include "sample_record.h"

namespace reseq::codec {
namespace {

const std::vector<std::string> kNames = {"reseq-command",     "reseq-id",
                                         "reseq-seq",         "reseq-epoch",
                                         "reseq-revision",    "reseq-op",
                                         "reseq-targets",     "reseq-target",
                                         "reseq-reprocess",   "reseq-observed-version",
                                         "reseq-control",     "reseq-order",
                                         "reseq-control-id",  "reseq-control-partition",
                                         "reseq-priority",    "reseq-process-at",
                                         "reseq-expires-at",  "reseq-attempt",
                                         "reseq-lease-until", "reseq-"};
const std::vector<std::string> kValues = {"register", "unregister", "sequence", "7",      "*",
                                          "search",   "true",       "delete",   "upsert", "reset",
                                          "",         "0",          ",",        "1/2",    "heartbeat"};

class Noise {
 public:
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % limit); }
  bool one_in(std::size_t n) { return below(n) == 0; }

  std::string bytes() {
    std::string bytes(below(12), '\0');
    for (char& c : bytes) c = static_cast<char>(random_());
    return bytes;
  }

  void add_header(SampleRecord& sample) {
    std::optional<std::string> value = one_in(3) ? bytes() : kValues[below(kValues.size())];
    if (one_in(10)) value.reset();
    sample.with(one_in(6) ? bytes() : kNames[below(kNames.size())], std::move(value));
  }

  SampleRecord record() {
    SampleRecord sample(static_cast<Role>(below(3)));
    if (one_in(8)) (void)std::move(sample).key(std::nullopt);
    if (one_in(4)) (void)std::move(sample).payload(std::nullopt);
    if (one_in(2)) sample.with("reseq-seq", "7");
    if (one_in(2)) sample.with("reseq-command", kValues[below(3)]);
    for (std::size_t headers = below(3); headers > 0; --headers) add_header(sample);
    return sample;
  }

  DecodeContext context() {
    DecodeContext context{&two_targets(), static_cast<SequenceKind>(below(4)), static_cast<Partitioner>(below(3)),
                          static_cast<std::int32_t>(1 + below(3)), one_in(2)};
    context.cloudevents = one_in(4);
    places_ = {one_in(2) ? Place{} : Place{std::string(kNames[below(kNames.size())])},
               one_in(2) ? std::nullopt : std::optional(Place{std::string(kNames[below(kNames.size())])})};
    if (one_in(2)) context.elsewhere = &places_;
    context.arena = &arena_;
    context.journal = one_in(2);
    return context;
  }

 private:
  std::mt19937_64 random_{20240229};
  InputPlaces places_;
  Arena arena_;
};

TEST(DecodeAnything, GivesACommandOrAReason) {
  Noise noise;
  constexpr std::size_t kRecords = 100'000;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < kRecords; ++i) {
    const SampleRecord sample = noise.record();
    const Command command = decoded(sample.view(), noise.context());
    const auto* refusal = std::get_if<Refused>(&command);
    if (refusal == nullptr) continue;
    ASSERT_NE(refusal->reason, Reason::kNone);
    ++refused;
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_LT(refused, kRecords - 1000U);
}

}  // namespace
}  // namespace reseq::codec
