// The request that writes markers is the one of Kafka's protocol, byte by byte, and its answer is understood.
#include "tests/chaos/cluster/txn_markers.h"

#include <gtest/gtest.h>

namespace reseq::chaos {
namespace {

using namespace std::string_literals;
using Errors = std::vector<std::int16_t>;

constexpr Decision kDecision{.producer_id = 7, .producer_epoch = 47, .commit = true, .coordinator_epoch = 8};
const std::vector<NamedPartition> kPlaces = {{"ab", 3}, {"c", 1}};

TEST(MarkerRequest, IsVersionOneOfWriteTxnMarkers) {
  EXPECT_EQ(marker_request(kDecision, kPlaces).bytes(),
            "\0"                        // tags of the header
            "\2"                        // one marker
            "\0\0\0\0\0\0\0\x07\0\x2f"  // producer id and epoch
            "\1"                        // commit
            "\3"                        // two topics
            "\3ab\2\0\0\0\3\0"          // name, one partition, tags
            "\2c\2\0\0\0\1\0"           // the other
            "\0\0\0\x08\0"              // coordinator epoch, tags of the marker
            "\0"s);                     // tags
  Decision abort = kDecision;
  abort.commit = false;
  EXPECT_EQ(marker_request(abort, kPlaces).bytes()[12], '\0');
}

TEST(MarkerRequest, TakesNamesOfAnyLength) {
  const std::string name(200, 'x');  // its length takes two bytes
  const std::string body = marker_request(kDecision, {{name, 0}}).bytes();
  EXPECT_NE(body.find("\xc9\x01"s + name), std::string::npos);
}

WireWriter answer(const std::vector<std::pair<NamedPartition, std::int16_t>>& results) {
  WireWriter body;
  body.no_tags().compact_count(1).i64(7).compact_count(results.size());
  for (const auto& [place, error] : results)
    body.compact_text(place.topic).compact_count(1).i32(place.partition).i16(error).no_tags().no_tags();
  return body.no_tags().no_tags();
}

TEST(MarkerErrors, AreInTheOrderOfTheRequest) {
  EXPECT_EQ(marker_errors(answer({{{"c", 1}, 47}, {{"ab", 3}, 0}}).bytes(), kPlaces), (Errors{0, 47}));
}

TEST(MarkerErrors, OfPartitionsThatAreNotNamedAreUnknown) {
  EXPECT_EQ(marker_errors(answer({{{"c", 2}, 0}, {{"ab", 3}, 0}}).bytes(), kPlaces), (Errors{0, -1}));
  EXPECT_EQ(marker_errors("", kPlaces), (Errors{-1, -1}));
}

TEST(MarkerErrors, OfAnAnswerThatBreaksOffAreNeverGood) {
  const std::string whole = answer({{{"ab", 3}, 0}, {{"c", 1}, 0}}).bytes();
  for (std::size_t size = 0; size + 20 < whole.size(); ++size)
    EXPECT_NE(marker_errors(whole.substr(0, size), kPlaces), (Errors{0, 0})) << size;
}

TEST(MarkerResult, SaysWhetherToTryAgain) {
  EXPECT_EQ(marker_result(0), MarkerResult::kWritten);
  EXPECT_EQ(marker_result(-1), MarkerResult::kLater);
  EXPECT_EQ(marker_result(6), MarkerResult::kLater);
  EXPECT_EQ(marker_result(14), MarkerResult::kLater);
  EXPECT_EQ(marker_result(47), MarkerResult::kFenced);
  EXPECT_EQ(marker_result(52), MarkerResult::kLater);
  EXPECT_EQ(marker_result(31), MarkerResult::kRefused);  // CLUSTER_AUTHORIZATION_FAILED
}

}  // namespace
}  // namespace reseq::chaos
