// Records that are too large, for every topic that is written, each with a limit of its own: sizes from well below the
// limit to above it in small steps. No record may be refused by the broker: that would abort its transaction, again and
// again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

#include "tests/bad_input/letters.h"
#include "tests/bad_input/random_bytes.h"
#include "tests/bad_input/subject.h"

namespace reseq::test {
namespace {

constexpr std::size_t kSmallWorkBytes = 20'000;
constexpr std::size_t kSearchBytes = 12'000;
constexpr std::size_t kCatalogueBytes = 16'000;
constexpr std::size_t kLetterBytes = 8'000;
constexpr std::size_t kMissingBytes = 2'048;  // the least that is accepted
constexpr std::size_t kLeastBytes = 65'536;   // that is accepted of events and changelog

// What the bounds may waste at most: a record that is smaller by this must pass.
constexpr std::size_t kSlack = 1'400;
constexpr std::size_t kStep = 40;

// A broker that compresses what it gets judges the size of the result, which may be larger: no byte here repeats.
TopicConfig topic_of(const std::string& role, std::int32_t partitions, std::size_t bytes,
                     const std::string& compression = "producer") {
  return {role, partitions, {{"max.message.bytes", std::to_string(bytes)}, {"compression.type", compression}}};
}

std::vector<TopicConfig> topics() {
  std::vector<TopicConfig> all = {
      topic_of("work", 1, kSmallWorkBytes, "snappy"),
      topic_of("output.search", 1, kSearchBytes, "lz4"),
      topic_of("output.catalogue", 1, kCatalogueBytes, "gzip"),
      topic_of("dead-letter", Subject::kPartitions, kLetterBytes, "zstd"),
      topic_of("missing", Subject::kPartitions, kMissingBytes),
      topic_of("events", Subject::kPartitions, kLeastBytes),
      topic_of("changelog", Subject::kPartitions, kLeastBytes),
  };
  all.back().configs.insert(all.back().configs.end(),
                            {{"cleanup.policy", "compact"}, {"delete.retention.ms", "604800000"}});
  return all;
}

constexpr const char* kToml = R"(
on_missing = "topic"
on_missing_topic = "{application}.missing"
[[target]]
name = "search"
[[target]]
name = "catalogue"
)";

// Key, payload, names and values: what a record has at least.
std::size_t bytes_of(const Record& record) {
  std::size_t bytes = record.key.value_or("").size() + record.payload.value_or("").size();
  for (const RecordHeader& header : record.headers) bytes += header.name.size() + header.value.value_or("").size();
  return bytes;
}

class TooLarge : public testing::Test {
 protected:
  static void SetUpTestSuite() { subject_ = std::make_unique<Subject>("sizes", kToml, topics()); }
  static void TearDownTestSuite() {
    if (!subject_) return;
    EXPECT_EQ(subject_->finish(), "");
    subject_.reset();
  }
  static Subject& subject() { return *subject_; }
  static std::string id(const std::string& stem, std::size_t number) {
    return id_in(0, stem + "-" + std::to_string(number) + "-", Subject::kPartitions);
  }
  static std::vector<std::size_t> sizes_around(std::size_t limit) {
    std::vector<std::size_t> sizes;
    for (std::size_t size = limit - kSlack; size < limit + 2 * kStep; size += kStep) sizes.push_back(size);
    return sizes;
  }

  // The input passes exactly when it is small enough, and what does not pass is kept without its payload.
  static void expect_bound(const std::vector<Place>& inputs, const std::string& passed) {
    EXPECT_EQ(subject().verdict(inputs.front()).outcome, passed);
    EXPECT_EQ(subject().verdict(inputs.back()).outcome, "dead_lettered");
    bool too_large = false;
    for (const Place& input : inputs) {
      const Verdict& verdict = subject().verdict(input);
      too_large = too_large || verdict.outcome == "dead_lettered";
      EXPECT_EQ(verdict.outcome, too_large ? "dead_lettered" : passed) << input;
      EXPECT_EQ(verdict.reason, too_large ? "too_large" : "") << input;
      if (too_large) expect_letter(input, "dead-letter", kLetterBytes);
    }
  }

  // The dead letter is that of the input, with so much left out as it says, and no more than the topic demands.
  static void expect_letter(const Place& place, const std::string& role, std::size_t limit) {
    const ReadRecord& input = subject().sent(place);
    const Verdict& verdict = subject().verdict(place);
    const Record& letter = subject().letter(place, role).record;
    Record expected = letter_of(input, verdict.reason, role == "missing" ? "" : verdict.expected);
    const std::size_t whole = bytes_of(expected);
    if (letter.header("reseq-payload-omitted")) {
      expected.headers.push_back({"reseq-payload-omitted", std::to_string(input.record.payload->size())});
      expected.payload = std::nullopt;
    }
    if (letter.header("reseq-headers-omitted")) {
      expected.headers.push_back({"reseq-headers-omitted", std::to_string(input.record.headers.size())});
      expected.headers.erase(expected.headers.begin(),
                             expected.headers.begin() + static_cast<std::ptrdiff_t>(input.record.headers.size()));
    }
    if (letter.header("reseq-key-omitted")) {
      expected.headers.push_back({"reseq-key-omitted", std::to_string(input.record.key->size())});
      expected.key = std::nullopt;
    }
    EXPECT_EQ(letter, expected);
    EXPECT_LE(bytes_of(letter), limit);
    if (whole + kSlack < limit) {
      EXPECT_EQ(letter.payload, input.record.payload) << "left out without need";
    }
  }

 private:
  static std::unique_ptr<Subject> subject_;
};
std::unique_ptr<Subject> TooLarge::subject_;

TEST_F(TooLarge, ForWorkIsARequestThatIsKeptWithoutItsPayload) {
  std::vector<Place> inputs;
  for (const std::size_t size : sizes_around(kSmallWorkBytes))
    inputs.push_back(
        subject().send("requests", {id("work", size), random_bytes(size), {{"reseq-seq", "1"}, {"mine", "x"}}}));
  subject().settle();
  expect_bound(inputs, "forwarded");
}

TEST_F(TooLarge, ForAnOutputIsAResultOfThatTarget) {
  const std::map<std::string, std::size_t> limits = {{"search", kSearchBytes}, {"catalogue", kCatalogueBytes}};
  for (const auto& [target, limit] : limits) {
    std::vector<Place> inputs;
    for (const std::size_t size : sizes_around(limit))
      subject().send("requests", {id(target, size), "small", {{"reseq-seq", "1"}}});
    subject().flush();
    const Headers headers = {{"reseq-command", "sequence"}, {"reseq-seq", "1"}, {"reseq-target", target}};
    for (const std::size_t size : sizes_around(limit))
      inputs.push_back(subject().send("commands", {id(target, size), random_bytes(size), headers}));
    subject().settle();
    expect_bound(inputs, "released");
  }
}

TEST_F(TooLarge, ForDeadLetterLosesThePayloadThenTheHeadersThenTheKey) {
  std::vector<Place> inputs;
  const Headers malformed = {{"reseq-seq", "x"}};
  for (const std::size_t size : sizes_around(kLetterBytes)) {
    Headers large = malformed;
    large.push_back({"large", random_bytes(size)});
    inputs.push_back(subject().send("requests", {id("payload", size), random_bytes(size), malformed}));
    inputs.push_back(subject().send("requests", {id("headers", size), "payload", large}));
    inputs.push_back(subject().send("requests", {random_bytes(size), "payload", malformed}));
    inputs.push_back(subject().send("requests", {random_bytes(size), random_bytes(size), large}));
  }
  subject().settle();
  std::map<std::string, int> omitted;
  for (const Place& input : inputs) {
    EXPECT_EQ(subject().verdict(input).outcome, "dead_lettered");
    expect_letter(input, "dead-letter", kLetterBytes);
    for (const RecordHeader& header : subject().letter(input).record.headers) ++omitted[header.name];
  }
  EXPECT_GT(omitted["reseq-payload-omitted"], omitted["reseq-headers-omitted"]);
  EXPECT_GT(omitted["reseq-headers-omitted"], omitted["reseq-key-omitted"]);
  EXPECT_GT(omitted["reseq-key-omitted"], 0);
}

TEST_F(TooLarge, ForTheTopicOfOnMissingIsReducedToItsLimit) {
  std::vector<Place> inputs;
  for (const std::size_t size : sizes_around(kMissingBytes))
    inputs.push_back(subject().send(
        "commands",
        {id("missing", size), random_bytes(size), {{"reseq-command", "sequence"}, {"reseq-target", "search"}}}));
  subject().settle();
  for (const Place& input : inputs) {
    EXPECT_EQ(subject().verdict(input).outcome, "redirected");
    EXPECT_EQ(subject().verdict(input).reason, "missing_sequence");
    expect_letter(input, "missing", kMissingBytes);
  }
}

// Their records have a bound of their own: the longest id, written as long as JSON can make it.
TEST_F(TooLarge, IsNothingForEventsAndChangelog) {
  const std::string longest = id_in(0, std::string(4'095, '\x01'), Subject::kPartitions);
  const Place request = subject().send("requests", {longest, "small", {{"reseq-seq", "1"}}});
  const Place again = subject().send("requests", {longest, "small", {{"reseq-seq", "1"}}});
  subject().settle();
  EXPECT_EQ(subject().verdict(request).outcome, "forwarded");
  EXPECT_EQ(subject().verdict(again).reason, "duplicate");
}

}  // namespace
}  // namespace reseq::test
