#include "kafka/version_gate.h"

#include <gtest/gtest.h>

namespace reseq::kafka {
namespace {

bool is_refused(int major, int minor, int revision, bool pushes_metrics = true) {
  return refusal({major, minor, revision}, pushes_metrics).has_value();
}

TEST(VersionGate, ReadsTheNumberOfTheLibrary) {
  EXPECT_EQ(parse_version(0x020002ff), (LibrdkafkaVersion{2, 0, 2}));
  EXPECT_EQ(parse_version(0x020a01ff), (LibrdkafkaVersion{2, 10, 1}));
}

TEST(VersionGate, AcceptsTheBaselineAndNewerOnes) {
  EXPECT_FALSE(is_refused(2, 0, 2));
  EXPECT_FALSE(is_refused(2, 3, 0));
  EXPECT_FALSE(is_refused(2, 4, 0));
  EXPECT_FALSE(is_refused(2, 5, 3));
  EXPECT_FALSE(is_refused(2, 6, 1));
  EXPECT_FALSE(is_refused(2, 8, 0));
  EXPECT_FALSE(is_refused(2, 10, 1));
  EXPECT_FALSE(is_refused(3, 0, 0));
}

TEST(VersionGate, RefusesWhatIsTooOld) {
  EXPECT_TRUE(is_refused(1, 9, 2));
  EXPECT_TRUE(is_refused(2, 0, 1));
}

TEST(VersionGate, RefusesVersionsThatResetOffsets) {
  EXPECT_TRUE(is_refused(2, 1, 0));
  EXPECT_TRUE(is_refused(2, 1, 1));
  EXPECT_TRUE(is_refused(2, 2, 0));
}

TEST(VersionGate, RefusesMetricsThatEndTheProcessUnlessTheyAreOff) {
  EXPECT_TRUE(is_refused(2, 5, 0, true));
  EXPECT_TRUE(is_refused(2, 5, 2, true));
  EXPECT_FALSE(is_refused(2, 5, 0, false));
}

TEST(VersionGate, RefusesTheReconnectLoop) {
  EXPECT_TRUE(is_refused(2, 10, 0));
}

TEST(VersionGate, KnowsWhoseScramKafka4Refuses) {
  EXPECT_TRUE(login_trouble({2, 0, 2}, "SCRAM-SHA-256"));
  EXPECT_TRUE(login_trouble({2, 6, 0}, "SCRAM-SHA-512"));
  EXPECT_FALSE(login_trouble({2, 6, 1}, "SCRAM-SHA-512"));
  EXPECT_FALSE(login_trouble({2, 0, 2}, "PLAIN"));
  EXPECT_FALSE(login_trouble({2, 0, 2}, ""));
}

TEST(VersionGate, SaysWhyInOneLine) {
  const auto reason = refusal({2, 1, 1}, true);
  ASSERT_TRUE(reason);
  EXPECT_NE(reason->find("librdkafka 2.1.1"), std::string::npos);
  EXPECT_EQ(reason->find('\n'), std::string::npos);
}

TEST(VersionGate, AcceptsTheLibraryThatIsLoadedHere) {
  EXPECT_TRUE(check_loaded_version(true).ok());
}

}  // namespace
}  // namespace reseq::kafka
