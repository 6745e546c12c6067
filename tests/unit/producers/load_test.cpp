#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

#include "producers/load/load_source.h"
#include "producers/sending/fingerprint.h"
#include "producers/tagging/tagger.h"
#include "recording_sink.h"

namespace reseq::test {
namespace {

using load::LoadOptions;
using load::LoadSource;

const LoadOptions kMixed{.documents = 200,
                         .updates = 9,
                         .delete_percent = 20,
                         .hot_percent = 30,
                         .duplicate_percent = 15,
                         .payload_bytes_min = 0,
                         .payload_bytes_max = 50,
                         .seed = 42};

std::unique_ptr<LoadSource> open(const LoadOptions& options) {
  return std::move(LoadSource::open(options)).value();
}

std::vector<Recorded> rest_of(LoadSource& source, SequenceKind kind = SequenceKind::kU64) {
  const tagging::Tagger tagger(kind);
  std::vector<Recorded> records;
  for (;;) {
    const auto next = source.next();
    if (!next.value().has_value()) return records;
    const auto record = tagger.tag(std::get<tagging::Change>(*next.value()));
    EXPECT_TRUE(record.ok());
    if (record.ok()) records.push_back(recorded(record.value()));
  }
}

std::uint64_t sequence_of(const Recorded& record) {
  return std::stoull(record.headers.at("reseq-seq"));
}

TEST(Load, IsTheSameForTheSameSeedAndAnotherForAnother) {
  LoadOptions other = kMixed;
  other.seed = 43;
  const auto records = rest_of(*open(kMixed));
  EXPECT_EQ(records, rest_of(*open(kMixed)));
  EXPECT_NE(records, rest_of(*open(other)));
}

// Pinned, so that a stream that somebody kept the seed of stays what it was.
TEST(Load, NeverChangesForASeed) {
  std::string all;
  for (const Recorded& record : rest_of(*open(kMixed)))
    all += record.key + "\t" + record.headers.at("reseq-seq") + "\t" + record.payload.value_or("-") + "\n";
  EXPECT_EQ(sending::fingerprint(all), "69a5cc52dbc4e8bc");
}

TEST(Load, HasExactlyTheRequestsThatWereAskedFor) {
  const auto source = open(kMixed);
  EXPECT_EQ(source->items_to_come(), 2300U);
  std::set<Recorded> distinct;
  std::set<std::string> ids;
  const auto records = rest_of(*source);
  for (const Recorded& record : records) {
    distinct.insert(record);
    ids.insert(record.key);
  }
  EXPECT_EQ(records.size(), 2300U);
  EXPECT_EQ(distinct.size(), 2000U);
  EXPECT_EQ(ids.size(), 200U);
}

TEST(Load, RaisesTheSequenceOfADocumentUnlessItRepeatsARequest) {
  std::map<std::string, std::uint64_t> newest;
  std::set<Recorded> seen;
  for (const Recorded& record : rest_of(*open(kMixed))) {
    const bool repeated = !seen.insert(record).second;
    std::uint64_t& last = newest[record.key];
    EXPECT_TRUE(repeated || sequence_of(record) > last);
    last = std::max(last, sequence_of(record));
  }
}

TEST(Load, KnowsWhatMustBeLeft) {
  const auto source = open(kMixed);
  std::map<std::string, Recorded> left;
  for (Recorded& record : rest_of(*source)) {
    Recorded& last = left[record.key];
    if (last.key.empty() || sequence_of(record) > sequence_of(last)) last = std::move(record);
  }
  int deleted = 0;
  for (std::uint64_t document = 0; document < kMixed.documents; ++document) {
    const load::FinalState state = source->final_state(document);
    const Recorded& last = left.at(state.id);
    EXPECT_EQ(state.sequence, last.headers.at("reseq-seq"));
    EXPECT_EQ(state.deleted, !last.payload.has_value());
    EXPECT_EQ(state.payload, last.payload.value_or(""));
    deleted += state.deleted ? 1 : 0;
  }
  EXPECT_GT(deleted, 0);
  EXPECT_LT(deleted, 200);
}

TEST(Load, SendsTheShareOfUpdatesToHotDocumentsThatWasAskedFor) {
  LoadOptions options = kMixed;
  options.hot_percent = 50;
  options.duplicate_percent = 0;
  int hot = 0;
  for (const Recorded& record : rest_of(*open(options))) hot += record.key == "doc-0" || record.key == "doc-1" ? 1 : 0;
  EXPECT_NEAR(hot, 920, 100);
}

TEST(Load, KeepsPayloadsInTheirBounds) {
  std::set<std::size_t> sizes;
  for (const Recorded& record : rest_of(*open(kMixed)))
    if (record.payload.has_value()) sizes.insert(record.payload->size());
  EXPECT_EQ(*sizes.begin(), 0U);
  EXPECT_EQ(*sizes.rbegin(), 50U);
}

TEST(Load, IsOfEveryKindAndRisesInIt) {
  for (const auto kind : {SequenceKind::kU64, SequenceKind::kTimestamp, SequenceKind::kLsn, SequenceKind::kText}) {
    LoadOptions options = kMixed;
    options.sequence_kind = kind;
    EXPECT_EQ(rest_of(*open(options), kind).size(), 2300U);
  }
}

TEST(Load, GoesOnBehindAMark) {
  const auto whole = rest_of(*open(kMixed));
  const auto source = open(kMixed);
  ASSERT_TRUE(source->resume_after({.position = 777, .token = {}}).ok());
  EXPECT_EQ(source->items_to_come(), 2300U - 777U);
  EXPECT_EQ(rest_of(*source), std::vector<Recorded>(whole.begin() + 777, whole.end()));
  EXPECT_FALSE(open(kMixed)->resume_after({.position = 2301, .token = {}}).ok());
}

TEST(Load, WritesItsOracleAsJson) {
  EXPECT_EQ(load::oracle_line({.id = "doc-1", .sequence = "7", .deleted = false, .payload = "abc"}),
            R"({"id":"doc-1","seq":"7","deleted":false,"payload_bytes":3,"payload_xxh3":"78af5f94892f3950"})");
}

TEST(Load, RefusesOptionsOutOfRange) {
  EXPECT_FALSE(LoadSource::open({.documents = 0}).ok());
  EXPECT_FALSE(LoadSource::open({.delete_percent = 101}).ok());
  EXPECT_FALSE(LoadSource::open({.payload_bytes_min = 2, .payload_bytes_max = 1}).ok());
  EXPECT_FALSE(LoadSource::open({.id_prefix = "\xff"}).ok());
}

}  // namespace
}  // namespace reseq::test
