// The way from a source to acknowledged records: refusals, resuming, pacing.
#include "producers/sending/sender.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "git_fixture.h"
#include "producers/load/load_source.h"
#include "producers/ndjson/ndjson_source.h"
#include "recording_sink.h"

namespace reseq::test {
namespace {

using sending::OnUnusable;
using sending::ResumeFile;
using testing::ElementsAre;
using testing::HasSubstr;

class Sender : public testing::Test {
 protected:
  Result<sending::SendReport> send(sending::ChangeSource& source) {
    const tagging::Tagger tagger(SequenceKind::kU64);
    sending::Sender sender(source, tagger, sink_, options_);
    if (const auto resumed = sender.resume(); !resumed.ok()) return resumed.error();
    auto progress = sending::ProgressReport::open(progress_path(), false);
    const auto complain = [this](const std::string& place, const std::string& reason) {
      complaints_.push_back(place + ": " + reason);
    };
    return sender.run(progress.value(), complain, stop_);
  }

  std::unique_ptr<ndjson::NdjsonSource> lines(const std::string& text) {
    std::ofstream(path("lines")) << text;
    return std::move(ndjson::NdjsonSource::open(path("lines"), {})).value();
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] std::string progress_path() const { return path("progress"); }
  [[nodiscard]] std::string last_progress() const {
    std::ifstream file(progress_path());
    std::string last;
    for (std::string line; std::getline(file, line);) last = line;
    return last;
  }
  [[nodiscard]] std::vector<std::string> acknowledged_keys() const {
    std::vector<std::string> keys;
    for (const Recorded& record : sink_.acknowledged) keys.push_back(record.key);
    return keys;
  }

  TempDir folder_;
  RecordingSink sink_;
  sending::SendOptions options_{.on_unusable = OnUnusable::kStop, .destination = "requests"};
  std::atomic<bool> stop_{false};
  std::vector<std::string> complaints_;
};

constexpr char kThreeLines[] =
    "{\"id\":\"a\",\"seq\":1,\"payload\":\"x\"}\n"
    "{\"id\":\"b\",\"seq\":-1,\"payload\":\"x\"}\n"
    "{\"id\":\"c\",\"seq\":3,\"payload\":\"x\"}\n";

TEST_F(Sender, StopsAtABadLineWithItsNumberAndDeliversTheLinesBeforeIt) {
  const auto report = send(*lines(kThreeLines));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(report.error().message, HasSubstr("line 2: "));
  EXPECT_THAT(acknowledged_keys(), ElementsAre("a"));
}

TEST_F(Sender, SkipsABadLineAndSaysSo) {
  options_.on_unusable = OnUnusable::kSkip;
  const auto report = send(*lines(kThreeLines));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.value().sent, 2U);
  EXPECT_EQ(report.value().skipped, 1U);
  EXPECT_THAT(acknowledged_keys(), ElementsAre("a", "c"));
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("line 2: 'seq'")));
}

TEST_F(Sender, SkipsALineThatOnlyTheTaggerRefuses) {
  options_.on_unusable = OnUnusable::kSkip;
  ASSERT_TRUE(
      send(*lines("{\"id\":\"\",\"seq\":1,\"payload\":\"x\"}\n{\"id\":\"b\",\"seq\":\"x\",\"payload\":1}\n")).ok());
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("line 1: the id is empty"), HasSubstr("line 2: the sequence")));
}

TEST_F(Sender, WaitsWhileTheQueueIsFull) {
  sink_.queue_records_max = 3;
  const auto source = load::LoadSource::open({.documents = 10, .updates = 9});
  ASSERT_TRUE(send(*source.value()).ok());
  EXPECT_EQ(sink_.acknowledged.size(), 100U);
}

TEST_F(Sender, NamesTheRecordThatCanNeverBeSent) {
  sink_.payload_bytes_max = 1;
  const auto report =
      send(*lines("{\"id\":\"a\",\"seq\":1,\"payload\":\"x\"}\n{\"id\":\"b\",\"seq\":1,\"payload\":\"xx\"}\n"));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().message, "line 2: too large");
}

TEST_F(Sender, SavesNothingThatWasNotAcknowledged) {
  const ResumeFile file(path("state"));
  options_.resume_file = &file;
  sink_.broken = true;
  const auto source = load::LoadSource::open({.documents = 10, .updates = 0});
  EXPECT_FALSE(send(*source.value()).ok());
  EXPECT_EQ(file.load().value(), std::nullopt);
}

TEST_F(Sender, LeavesNoGapWhenItIsKilledAtAnyPointAndStartedAgain) {
  GitFixture fixture;
  History history;
  for (int commit = 0; commit < 30; ++commit) {
    history.commit().file("f" + std::to_string(commit % 7), std::to_string(commit));
    if (commit % 3 == 2) history.remove("f" + std::to_string((commit + 2) % 7));
  }
  const auto repository = fixture.make(history);
  ASSERT_TRUE(send(*open_source(repository)).ok());
  const std::vector<Recorded> whole = sink_.acknowledged;

  const ResumeFile file(path("state"));
  options_.resume_file = &file;
  for (std::size_t kill_at = 0; kill_at <= whole.size(); ++kill_at) {
    const auto source = open_source(repository);
    for (std::size_t i = 0; i < kill_at; ++i) ASSERT_TRUE(source->next().ok());
    ASSERT_TRUE(file.save({.stream = source->stream(), .destination = "requests", .mark = source->mark()}).ok());

    const auto again = open_source(repository);
    sink_.acknowledged.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kill_at));
    ASSERT_TRUE(send(*again).ok());
    ASSERT_EQ(sink_.acknowledged, whole) << "killed behind record " << kill_at;
    EXPECT_EQ(again->items_to_come(), whole.size() - kill_at);
  }
}

// A sink that dies with what it has not acknowledged, after a number of records.
class DyingSink final : public tagging::RequestSink {
 public:
  DyingSink(RecordingSink& broker, std::size_t records, std::size_t flushes)
      : broker_(broker), records_(records), flushes_(flushes) {}
  Result<> produce(const tagging::TaggedRecord& record) override {
    if (records_ == 0) return dead();
    --records_;
    return broker_.produce(record);
  }
  void poll(Milliseconds /*limit*/) override {}
  Result<> flush(Milliseconds limit) override {
    if (records_ == 0 || flushes_ == 0) return dead();
    --flushes_;
    return broker_.flush(limit);
  }

 private:
  static Error dead() { return {.what_to_do = ErrorClass::kFatal, .code = 0, .message = "killed"}; }

  RecordingSink& broker_;
  std::size_t records_;
  std::size_t flushes_;
};

TEST_F(Sender, SendsOnlyTheUnacknowledgedTailTwice) {
  const load::LoadOptions load{.documents = 50, .updates = 3, .duplicate_percent = 10};
  const auto complete = load::LoadSource::open(load);
  ASSERT_TRUE(send(*complete.value()).ok());
  const std::vector<Recorded> whole = sink_.acknowledged;

  const ResumeFile file(path("state"));
  const tagging::Tagger tagger(SequenceKind::kU64);
  options_.resume_file = &file;
  options_.checkpoint_interval = std::chrono::milliseconds(0);
  std::vector<Recorded> seen;
  for (std::size_t life = 1; life <= 200; ++life) {
    RecordingSink broker;
    DyingSink dying(broker, life, life / 2 + 1);
    const auto source = load::LoadSource::open(load);
    sending::Sender sender(*source.value(), tagger, dying, options_);
    ASSERT_TRUE(sender.resume().ok());
    auto progress = sending::ProgressReport::open({}, false);
    const std::uint64_t from = source.value()->mark().position;
    const bool done = sender
                          .run(
                              progress.value(), [](auto&, auto&) {}, stop_)
                          .ok();
    // What was acknowledged before must reach to where this life went on.
    ASSERT_LE(from, seen.size());
    seen.resize(from);
    seen.insert(seen.end(), broker.acknowledged.begin(), broker.acknowledged.end());
    if (done) break;
  }
  EXPECT_EQ(seen, whole);
}

TEST_F(Sender, RefusesAStateFileOfAnotherStreamOrTopic) {
  const ResumeFile file(path("state"));
  options_.resume_file = &file;
  ASSERT_TRUE(send(*load::LoadSource::open({.documents = 3}).value()).ok());
  const auto other_stream = send(*load::LoadSource::open({.documents = 3, .seed = 2}).value());
  ASSERT_FALSE(other_stream.ok());
  EXPECT_THAT(other_stream.error().message, HasSubstr("belongs to the stream"));
  options_.destination = "elsewhere";
  const auto other_topic = send(*load::LoadSource::open({.documents = 3}).value());
  ASSERT_FALSE(other_topic.ok());
  EXPECT_THAT(other_topic.error().message, HasSubstr("belongs to topic requests"));
}

TEST_F(Sender, StopsInOrderWithEverythingAcknowledgedAndSaved) {
  const ResumeFile file(path("state"));
  options_.resume_file = &file;
  stop_ = true;
  const auto report = send(*load::LoadSource::open({.documents = 3}).value());
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report.value().stopped);
  EXPECT_THAT(last_progress(), HasSubstr("\"done\":false"));
}

TEST_F(Sender, KeepsTheRateThatIsAskedFor) {
  options_.records_per_second = 200;
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(send(*load::LoadSource::open({.documents = 41, .updates = 0}).value()).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(200));
}

TEST_F(Sender, EndsTheProgressFileWithTheWhole) {
  options_.on_unusable = OnUnusable::kSkip;
  ASSERT_TRUE(send(*lines(kThreeLines)).ok());
  EXPECT_THAT(last_progress(), HasSubstr("{\"sent\":2,\"skipped\":1,\"total\":3,\"elapsed_ms\":"));
  EXPECT_THAT(last_progress(), HasSubstr("\"done\":true}"));
}

}  // namespace
}  // namespace reseq::test
