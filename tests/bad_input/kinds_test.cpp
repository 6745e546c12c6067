// The sequence kinds other than numbers, each with one of the header styles of dead letters, byte by byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ostream>

#include "tests/bad_input/letters.h"
#include "tests/bad_input/subject.h"

namespace reseq::test {
namespace {

using testing::Contains;

constexpr const char* kTarget = "\n[[target]]\nname = \"search\"\n";

struct Kind {
  std::string name;
  std::string toml;
  LetterStyle style;
  Partitioner partitioner;
  std::vector<std::string> rising;   // sequences of this kind, as they are told back
  std::vector<std::string> foreign;  // of the other kinds, and malformed ones
};

const std::vector<Kind> kKinds = {
    {"timestamp",
     "dead_letter_headers = \"streams\"\n",
     LetterStyle::kStreams,
     Partitioner::kMurmur2,
     {"2024-05-01T10:00:00Z", "2024-05-01T10:00:00.000000001Z", "2024-05-01T10:00:01Z"},
     {"16/B374D848", "v17", "18446744073709551615", "2024-05-01T10:00:00", "2024-05-01", "2024-02-30T10:00:00Z",
      "2024-05-01T23:59:60Z", ""}},
    {"lsn",
     "dead_letter_headers = \"spring\"\npartitioner = \"crc32\"\n",
     LetterStyle::kSpring,
     Partitioner::kCrc32,
     {"0/1", "16/B374D848", "17/0"},
     {"17", "2024-05-01T10:00:00Z", "v17", "16/", "/16", "16/123456789", "16/0x1", "16/B3/1", ""}},
    {"text",
     "intake = \"tap\"\n",
     LetterStyle::kReseq,
     Partitioner::kMurmur2,
     {std::string("\x01", 1), "a", "a1"},
     {"", std::string(33, 'x')}},
};

void PrintTo(const Kind& kind, std::ostream* out) {
  *out << kind.name;
}

class BadInputOf : public testing::TestWithParam<Kind> {
 protected:
  [[nodiscard]] std::string id(const std::string& stem, int partition = 0) const {
    return id_in(partition, stem, Subject::kPartitions, GetParam().partitioner);
  }
  [[nodiscard]] Record request(const std::string& stem, const std::string& sequence, const Headers& more = {}) const {
    Record record{id(stem), "payload at " + sequence, {{"reseq-seq", sequence}}};
    record.headers.insert(record.headers.end(), more.begin(), more.end());
    return record;
  }
  [[nodiscard]] Record result(const std::string& stem, const std::string& sequence) const {
    return request(stem, sequence, {{"reseq-epoch", "0"}, {"reseq-command", "sequence"}});
  }
  void send_bad(const std::string& role, const Record& record, const std::string& reason,
                const std::string& expected = "") {
    bad_.push_back({subject_.send(role, record), reason, expected});
  }
  void expect_letters() {
    for (const auto& [place, reason, expected] : bad_) {
      const ReadRecord& input = subject_.sent(place);
      SCOPED_TRACE(testing::PrintToString(input.record));
      EXPECT_EQ(subject_.verdict(place).outcome, "dead_lettered");
      EXPECT_EQ(subject_.verdict(place).reason, reason);
      const ReadRecord& letter = subject_.letter(place);
      EXPECT_EQ(letter.record, letter_of(input, reason, expected, GetParam().style));
      EXPECT_GE(letter.timestamp_ms, input.timestamp_ms) << "the time of the batch";
    }
  }

  struct Bad {
    Place place;
    std::string reason;
    std::string expected;
  };
  std::vector<Bad> bad_;
  Subject subject_{"kind-" + GetParam().name,
                   "sequence_kind = \"" + GetParam().name + "\"\n" + GetParam().toml + kTarget};
};

TEST_P(BadInputOf, SequencesOfAnotherKindAndGoodOnesFlowBetween) {
  const Kind& kind = GetParam();
  const auto stem = [](std::size_t i) { return "good-" + std::to_string(i) + "-"; };
  const auto sequence = [&](std::size_t i) { return kind.rising[i % kind.rising.size()]; };
  std::vector<Bytes> good;
  for (std::size_t i = 0; i < kind.foreign.size(); ++i) {
    subject_.send("requests", request(stem(i), sequence(i)));
    send_bad("requests", request("bad", kind.foreign[i]), "malformed_sequence");
  }
  subject_.flush();
  for (std::size_t i = 0; i < kind.foreign.size(); ++i) {
    send_bad("commands", result("bad", kind.foreign[i]), "malformed_sequence");
    subject_.send("commands", result(stem(i), sequence(i)));
    good.push_back(id(stem(i)));
  }
  for (const std::string& next : kind.rising) subject_.send("requests", request("rising", next));
  Record elsewhere = request("x", kind.rising.front());
  elsewhere.key = id("elsewhere", 1);
  send_bad("requests", elsewhere, "misrouted");
  send_bad("requests",
           request("empty", kind.rising.front(),
                   {{"kafka_dlt-original-offset", "of the input"},
                    {"__streams.errors.message", std::nullopt},
                    {"reseq-epoch", "x"}}),
           "malformed_header");
  subject_.settle();

  Record edit = request("rising", kind.rising.back());
  edit.payload = "another edit under one sequence";
  send_bad("requests", edit, "sequence_reused", kind.rising.back());
  const Place old = subject_.send("requests", request("rising", kind.rising.front()));
  subject_.send("commands", result("rising", kind.rising.back()));
  good.push_back(id("rising"));
  subject_.settle();

  expect_letters();
  EXPECT_EQ(subject_.verdict(old).reason, "superseded");
  EXPECT_EQ(subject_.verdict(old).expected, kind.rising.back());
  std::vector<Bytes> released;
  for (const ReadRecord& output : subject_.read("output.search")) released.push_back(output.record.key);
  EXPECT_EQ(released, good);
  EXPECT_EQ(subject_.finish(), "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, BadInputOf, testing::ValuesIn(kKinds), [](const auto& one) { return one.param.name; });

// What only an application with intake = tap refuses.
TEST(BadInputOfTap, IsWhatOnlyTheResequencerCouldHandOut) {
  Subject subject("tap", std::string("intake = \"tap\"\n") + kTarget);
  const std::string id = id_in(0, "doc", Subject::kPartitions);
  subject.send("requests", {id, std::nullopt, {{"reseq-seq", "5"}}});
  const Place again = subject.send("requests", {id, "p", {{"reseq-seq", "5"}, {"reseq-reprocess", "true"}}});
  const Place reset = subject.send("requests", {id,
                                                std::nullopt,
                                                {{"reseq-control", "reset"},
                                                 {"reseq-control-id", "r"},
                                                 {"reseq-control-partition", "0"},
                                                 {"reseq-epoch", "1"}}});
  subject.settle();
  EXPECT_EQ(subject.letter(again).record, letter_of(subject.sent(again), "reprocess_needs_inline", "5"));
  EXPECT_EQ(subject.letter(reset).record, letter_of(subject.sent(reset), "reset_needs_epochs", ""));
  EXPECT_EQ(subject.finish(), "");
}

}  // namespace
}  // namespace reseq::test
