#include "metrics/exposition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

// Where a value falls: the upper end of its bucket.
std::uint64_t bucket_of(std::int64_t value) {
  Histogram histogram;
  histogram.observe(value);
  for (std::size_t i = 0; i < Histogram::kBuckets; ++i)
    if (histogram.in_bucket(i) != 0) return Histogram::upper(i);
  return 0;
}

TEST(Histogram, PutsAValueIntoTheFirstBucketThatEndsAtOrAboveIt) {
  EXPECT_EQ(bucket_of(0), 1U);
  EXPECT_EQ(bucket_of(1), 1U);
  EXPECT_EQ(bucket_of(2), 2U);
  EXPECT_EQ(bucket_of(3), 4U);
  EXPECT_EQ(bucket_of(4), 4U);
  EXPECT_EQ(bucket_of(5), 8U);
  EXPECT_EQ(bucket_of(1024), 1024U);
  EXPECT_EQ(bucket_of(1025), 2048U);
}

TEST(Histogram, KeepsWhatIsLargerThanAllBucketsInTheLast) {
  EXPECT_EQ(bucket_of(INT64_MAX), Histogram::upper(Histogram::kBuckets - 1));
}

TEST(Histogram, TakesATimeBelowZeroAsNone) {
  Histogram histogram;
  histogram.observe(-5);
  EXPECT_EQ(histogram.in_bucket(0), 1U);
  EXPECT_EQ(histogram.sum(), 0U);
}

TEST(Histogram, AddsAnother) {
  Histogram a;
  Histogram b;
  a.observe(3);
  b.observe(3);
  b.observe(100);
  a += b;
  EXPECT_EQ(a.count(), 3U);
  EXPECT_EQ(a.sum(), 106U);
  EXPECT_EQ(a.in_bucket(2), 2U);
}

TEST(Exposition, WritesCountersAndGaugesWithLabels) {
  Exposition out;
  out.counter("reseq_things_total", "Things.");
  out.add({{"kind", "a"}}, 3);
  out.gauge("reseq_level", "Level.");
  out.add(0.5);
  const std::string text = out.text();
  EXPECT_THAT(text, HasSubstr("# HELP reseq_things_total Things.\n# TYPE reseq_things_total counter\n"
                              "reseq_things_total{kind=\"a\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE reseq_level gauge\nreseq_level 0.5\n"));
}

TEST(Exposition, WritesAHistogramWithRisingBucketsInItsUnit) {
  Histogram histogram;
  histogram.observe(1);
  histogram.observe(3);
  Exposition out;
  out.histogram("reseq_wait_seconds", "Wait.");
  out.add({}, histogram, 0.001);
  const std::string text = out.text();
  EXPECT_THAT(text, HasSubstr("reseq_wait_seconds_bucket{le=\"0.001\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("reseq_wait_seconds_bucket{le=\"0.002\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("reseq_wait_seconds_bucket{le=\"0.004\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("reseq_wait_seconds_bucket{le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("reseq_wait_seconds_count 2\n"));
  EXPECT_THAT(text, HasSubstr("reseq_wait_seconds_sum 0.004\n"));
}

TEST(Exposition, EscapesWhatALabelMayNotHold) {
  Exposition out;
  out.gauge("reseq_a", "A.");
  out.add({{"instance", "a\"b\\c\nd"}}, 1);
  EXPECT_THAT(out.text(), HasSubstr(R"(reseq_a{instance="a\"b\\c\nd"} 1)"));
}

TEST(Exposition, LeavesOutAFamilyWithoutASample) {
  Exposition out;
  out.gauge("reseq_nothing", "Nothing.");
  EXPECT_THAT(out.text(), Not(HasSubstr("reseq_nothing")));
}

}  // namespace
}  // namespace reseq::metrics
