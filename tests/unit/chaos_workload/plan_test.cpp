#include "tests/chaos/workload/plan.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>

#include "codec/hash.h"

namespace reseq::chaos {
namespace {

constexpr std::uint64_t kPlanned = 30'000;

const Plan& plan() {
  static const Plan kPlan({.seed = 7, .producers = 3, .partitions = 4});
  return kPlan;
}

// By number; made once, because payloads take their time.
const std::vector<std::optional<judge::Asked>>& all_asked() {
  static const auto kAsked = [] {
    std::vector<std::optional<judge::Asked>> asked;
    for (std::uint64_t n = 0; n < kPlanned; ++n) asked.push_back(plan().asked(Number(n)));
    return asked;
  }();
  return kAsked;
}

std::vector<std::tuple<std::string, std::string>> headers_of(const PlannedRecord& record) {
  std::vector<std::tuple<std::string, std::string>> headers;
  for (const tagging::RecordHeader& header : record.headers) headers.emplace_back(header.name, header.value);
  return headers;
}

bool same(const PlannedRecord& a, const PlannedRecord& b) {
  return a.to_control == b.to_control && a.partition == b.partition && a.key == b.key && a.payload == b.payload &&
         headers_of(a) == headers_of(b);
}

std::string header(const PlannedRecord& record, std::string_view name) {
  for (const tagging::RecordHeader& one : record.headers)
    if (one.name == name) return one.value;
  return "";
}

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

TEST(Plan, WritesTheSameBytesUnderANumberInEveryProcess) {
  const Plan again(plan().settings());
  const Plan other({.seed = 8, .producers = 3, .partitions = 4});
  std::uint64_t differ = 0;
  for (std::uint64_t n = 0; n < 2'000; ++n) {
    const auto records = plan().records(Number(n));
    ASSERT_TRUE(std::ranges::equal(records, again.records(Number(n)), same)) << n;
    if (!std::ranges::equal(records, other.records(Number(n)), same)) ++differ;
  }
  EXPECT_GT(differ, 1'950U);
}

TEST(Plan, DrawsEachKindInItsShare) {
  std::map<Kind, std::uint64_t> count;
  for (std::uint64_t n = 0; n < kPlanned; ++n) ++count[plan().kind(Number(n))];
  EXPECT_NEAR(share(count[Kind::kNext], kPlanned), 0.88, 0.02);
  EXPECT_NEAR(share(count[Kind::kLate], kPlanned), 0.04, 0.01);
  EXPECT_NEAR(share(count[Kind::kAgain], kPlanned), 0.045, 0.01);
  EXPECT_NEAR(share(count[Kind::kReprocess], kPlanned), 0.013, 0.005);
  EXPECT_NEAR(share(count[Kind::kChanged], kPlanned), 0.008, 0.004);
  EXPECT_NEAR(share(count[Kind::kBad], kPlanned), 0.005, 0.003);
}

TEST(Plan, DeletesOneInFiveAndChangesTheTargets) {
  std::uint64_t requests = 0, removals = 0, defaults = 0, single = 0, with_payload = 0;
  for (std::uint64_t n = 0; n < kPlanned; ++n) {
    if (plan().kind(Number(n)) != Kind::kNext) continue;
    const judge::Asked& asked = *all_asked()[n];
    ++requests;
    if (asked.removal) ++removals;
    if (asked.removal && asked.payload) ++with_payload;
    EXPECT_TRUE(asked.removal || asked.payload);
    if (!asked.targets) ++defaults;
    if (asked.targets && asked.targets->size() == 1) ++single;
  }
  EXPECT_NEAR(share(removals, requests), 0.2, 0.01);
  EXPECT_NEAR(share(with_payload, removals), 0.2, 0.03);
  EXPECT_NEAR(share(defaults, requests), 0.6, 0.02);
  EXPECT_NEAR(share(single, requests), 0.15, 0.02);
}

TEST(Plan, MakesOnePayloadInAHundredLarge) {
  std::uint64_t payloads = 0, large = 0;
  std::size_t largest = 0;
  for (std::uint64_t n = 0; n < kPlanned; ++n)
    for (const PlannedRecord& record : plan().records(Number(n))) {
      if (!record.payload || *record.payload == "bad") continue;
      ++payloads;
      EXPECT_GE(record.payload->size(), 10U);
      if (record.payload->size() > 500) ++large;
      largest = std::max(largest, record.payload->size());
    }
  EXPECT_NEAR(share(large, payloads), 0.01, 0.002);
  EXPECT_GT(largest, kPayloadBytesMax / 2);
  EXPECT_LE(largest, kPayloadBytesMax);
}

TEST(Plan, HasHotDocumentsColdOnesAndNewOnesAllTheTime) {
  std::map<std::string, std::uint64_t> requests;
  std::uint64_t new_in_second_half = 0, in_second_half = 0;
  for (std::uint64_t n = 0; n < kPlanned; ++n) {
    if (plan().kind(Number(n)) != Kind::kNext) continue;
    const bool is_new = ++requests[all_asked()[n]->id] == 1;
    if (n < kPlanned / 2) continue;
    ++in_second_half;
    if (is_new) ++new_in_second_half;
  }
  std::uint64_t hottest = 0;
  for (const auto& [id, count] : requests) hottest = std::max(hottest, count);
  EXPECT_GT(share(hottest, kPlanned), 0.005);
  EXPECT_LT(share(hottest, kPlanned), 0.05);
  EXPECT_GT(share(new_in_second_half, in_second_half), 0.2);
  EXPECT_LT(share(new_in_second_half, in_second_half), 0.6);
}

TEST(Plan, GivesEachDocumentToOneProducerAndLetsItsOrderRise) {
  struct Last {
    std::uint64_t producer;
    std::pair<std::uint32_t, std::uint64_t> order;
  };
  std::map<std::string, Last> last;
  std::uint64_t epochs_raised = 0;
  for (std::uint64_t n = 0; n < kPlanned; ++n) {
    if (plan().kind(Number(n)) != Kind::kNext) continue;
    const judge::Asked& asked = *all_asked()[n];
    const std::pair order(asked.epoch.value_or(0), asked.sequence);
    const auto [found, is_new] = last.try_emplace(asked.id, Last{n % 3, order});
    if (is_new) continue;
    ASSERT_EQ(found->second.producer, n % 3) << asked.id;
    ASSERT_LT(found->second.order, order) << asked.id;
    if (found->second.order.first < order.first) ++epochs_raised;
    found->second.order = order;
  }
  EXPECT_GT(epochs_raised, 10U);
}

TEST(Plan, RepeatsEarlierRequestsByteByByte) {
  std::uint64_t again = 0, reprocessed = 0, changed = 0;
  for (std::uint64_t n = 0; n < kPlanned; ++n) {
    const Kind kind = plan().kind(Number(n));
    if (kind != Kind::kAgain && kind != Kind::kReprocess && kind != Kind::kChanged) continue;
    const PlannedRecord record = plan().records(Number(n)).front();
    if (kind == Kind::kChanged) {
      ++changed;
      EXPECT_EQ(header(record, kNumber), std::to_string(n));
      continue;
    }
    const Number source(std::stoull(header(record, kNumber)));
    ASSERT_LT(source.value(), n);
    EXPECT_EQ(source.value() % 3, n % 3);
    PlannedRecord expected = plan().records(source).front();
    if (kind == Kind::kReprocess) expected.headers.push_back({"reseq-reprocess", "true"});
    EXPECT_TRUE(same(record, expected)) << n;
    ++(kind == Kind::kAgain ? again : reprocessed);
  }
  EXPECT_GT(again, 100U);
  EXPECT_GT(reprocessed, 100U);
  EXPECT_GT(changed, 100U);
}

TEST(Plan, TellsByTheNumberThatARecordCarriesWhatItAskedFor) {
  for (std::uint64_t n = 0; n < 5'000; ++n) {
    if (plan().kind(Number(n)) == Kind::kBad || plan().kind(Number(n)) == Kind::kReset) continue;
    const PlannedRecord record = plan().records(Number(n)).front();
    const judge::Asked asked = *plan().asked(Number(std::stoull(header(record, kNumber))));
    EXPECT_EQ(asked.id, *record.key);
    EXPECT_EQ(std::to_string(asked.sequence), header(record, "reseq-seq"));
    EXPECT_EQ(asked.epoch ? std::to_string(*asked.epoch) : "", header(record, "reseq-epoch"));
    EXPECT_EQ(asked.payload, result_payload(record.payload));
    EXPECT_EQ(asked.removal, header(record, "reseq-op") == "delete" || !record.payload);
    std::string list;
    for (const std::string& name : asked.targets.value_or(std::vector<std::string>()))
      list += (list.empty() ? "" : ",") + name;
    EXPECT_EQ(list, header(record, "reseq-targets"));
  }
}

TEST(Plan, ChangesOnlyThePayloadOfAnEarlierRequest) {
  std::map<std::tuple<std::string, std::uint32_t, std::uint64_t>, std::set<std::string>> payloads;
  std::uint64_t changed = 0;
  for (std::uint64_t n = 0; n < kPlanned; ++n) {
    const auto& asked = all_asked()[n];
    if (!asked) continue;
    auto& known = payloads[{asked->id, asked->epoch.value_or(0), asked->sequence}];
    if (plan().kind(Number(n)) == Kind::kChanged) {
      ++changed;
      ASSERT_FALSE(known.empty()) << n;
      EXPECT_FALSE(known.contains(asked->payload.value_or(""))) << n;
    }
    known.insert(asked->payload.value_or(""));
  }
  EXPECT_GT(changed, 100U);
}

TEST(Plan, ResetsEachPartitionToTheSameRisingEpoch) {
  std::uint64_t resets = 0;
  for (std::uint64_t place = 0; place < 100'000; ++place) {
    const Number number = plan().number(0, place);
    if (plan().kind(number) != Kind::kReset) continue;
    ++resets;
    EXPECT_FALSE(plan().asked(number));
    const auto records = plan().records(number);
    ASSERT_EQ(records.size(), 4U);
    for (std::size_t p = 0; p < records.size(); ++p) {
      EXPECT_EQ(records[p].partition, Partition(static_cast<std::int32_t>(p)));
      EXPECT_EQ(header(records[p], "reseq-epoch"), std::to_string(resets));
    }
  }
  EXPECT_EQ(resets, 5U);
}

TEST(Plan, HasEveryKindOfBadRecordAndAsksForNothingWithThem) {
  std::map<std::string, std::uint64_t> reasons;
  for (std::uint64_t n = 0; n < kPlanned; ++n) {
    if (plan().kind(Number(n)) != Kind::kBad) continue;
    EXPECT_FALSE(plan().asked(Number(n)));
    const PlannedRecord record = plan().records(Number(n)).front();
    const std::string reason = header(record, kExpectedReason);
    ++reasons[reason];
    if (reason == "misrouted")
      EXPECT_NE(record.partition, codec::partition_of(*record.key, Partitioner::kMurmur2, 4));
    else
      EXPECT_EQ(record.partition, std::nullopt);
    EXPECT_EQ(record.to_control, reason == "unknown_control");
  }
  EXPECT_EQ(reasons.size(), 13U);
}

TEST(Plan, DerivesSmallResultsAndPassesLargeOnesOn) {
  EXPECT_EQ(result_payload(std::nullopt), std::nullopt);
  EXPECT_EQ(result_payload(""), "result of ");
  EXPECT_EQ(result_payload("book"), "result of book");
  const std::string large(5'000, 'x');
  EXPECT_EQ(result_payload(large), large);
}

TEST(Plan, HasUrgentRequestsAndSomeForIdleTimesOnlyWhereThereIsAJournal) {
  const Plan with_journal({.seed = 7, .producers = 3, .partitions = 4, .journal = true});
  std::uint64_t urgent = 0, idle = 0;
  for (std::uint64_t n = 0; n < 2'000; ++n) {
    if (plan().kind(Number(n)) != Kind::kNext) continue;
    EXPECT_EQ(header(plan().records(Number(n)).front(), "reseq-priority"), "");
    const std::string priority = header(with_journal.records(Number(n)).front(), "reseq-priority");
    if (priority.empty()) continue;
    ++(std::stoi(priority) < 100 ? urgent : idle);
  }
  EXPECT_GT(urgent, 100U);
  EXPECT_GT(idle, 50U);
}

}  // namespace
}  // namespace reseq::chaos
