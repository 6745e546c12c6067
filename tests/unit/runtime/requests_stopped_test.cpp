// Results that wait for their turn are held, and what is held is bounded: requests are not read while it is too much.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulated_application.h"
#include "telling_worker.h"

namespace reseq::runtime {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kHeldBytesMax = 3'000;
constexpr std::int64_t kGapTimeoutMs = 60'000;

config::Settings with_order(const std::string& order) {
  config::Settings settings;
  settings.application_id = "app";
  settings.targets = {{.name = "audit", .order = order}};
  settings.orders_gap_timeout_ms = kGapTimeoutMs;
  settings.held_bytes_max = kHeldBytesMax;
  return settings;
}

class RequestsOf : public TellingWorker {
 protected:
  explicit RequestsOf(const std::string& order) : RequestsOf(with_order(order)) {}
  explicit RequestsOf(config::Settings settings) : TellingWorker(std::move(settings)) {}
  void request(const std::string& id, const std::string& sequence = "1") {
    broker.append({*broker.topic("app.requests"), Partition(0)}, {id, "{}", {{"reseq-seq", sequence}}, broker.now()});
    steps(50);
  }
  void result(const std::string& id, const std::string& sequence = "1", std::size_t bytes = 10) {
    broker.append({*broker.topic("app.commands"), Partition(0)},
                  {id,
                   std::string(bytes, 'x'),
                   {{"reseq-command", "sequence"}, {"reseq-seq", sequence}, {"reseq-target", "audit"}},
                   broker.now()});
    steps(50);
  }
  [[nodiscard]] std::uint64_t decided() const { return worker.totals().inputs; }
  [[nodiscard]] bool stopped() { return worker.report().partitions.front().requests_stopped; }
  [[nodiscard]] std::uint64_t places() { return worker.report().partitions.front().places; }
};

class RequestsOfATotalTarget : public RequestsOf {
 protected:
  RequestsOfATotalTarget() : RequestsOf("total") {
    for (const char* id : {"lost", "kept"}) request(id);
    result("kept", "1", kHeldBytesMax + 1);
  }
};

TEST_F(RequestsOfATotalTarget, AreNotReadWhileTooMuchIsHeldAndAreWhenItHasLeft) {
  ASSERT_EQ(decided(), 3U);
  EXPECT_THAT(text(), HasSubstr("reseq_requests_stopped{partition=\"0\"} 1\n"));
  for (int i = 0; i < 20; ++i) request("more-" + std::to_string(i));
  EXPECT_EQ(decided(), 3U) << "what is held grows without a bound";
  EXPECT_FALSE(worker.report().partitions.front().inputs[slot_of(Role::kRequests)].lag().has_value())
      << "nobody tells the end of what is not read: this lag is of the past";
  result("lost");
  steps(200);
  EXPECT_EQ(decided(), 24U) << "requests are not read again";
  EXPECT_THAT(text(), HasSubstr("reseq_requests_stopped{partition=\"0\"} 0\n"));
}

TEST_F(RequestsOfATotalTarget, AreReadForACommandThatMetNone) {
  ASSERT_TRUE(stopped());
  request("more");
  ASSERT_EQ(decided(), 3U);
  result("more");
  steps(200);
  EXPECT_EQ(decided(), 5U) << "the result waits for its request, and what is held for what stands behind the result";
  EXPECT_TRUE(stopped());
  result("lost");
  steps(200);
  EXPECT_EQ(places(), 0U);
  EXPECT_FALSE(stopped());
}

TEST_F(RequestsOfATotalTarget, AreReadWhenWhatWasWaitedForIsAGap) {
  request("more");
  ticks(static_cast<int>(kGapTimeoutMs / 10) + 200);
  steps(500);
  EXPECT_EQ(decided(), 4U);
  EXPECT_EQ(places(), 1U);
}

class RequestsOfAStrictTarget : public RequestsOf {
 protected:
  RequestsOfAStrictTarget() : RequestsOf("strict") {}
};

TEST_F(RequestsOfAStrictTarget, AreReadAgainWhenHalfOfWhatMayBeHeldIsFree) {
  for (const char* id : {"a", "b"}) {
    request(id, "1");
    request(id, "2");
    result(id, "2", kHeldBytesMax * 2 / 3);
  }
  EXPECT_TRUE(stopped());
  result("a", "1");
  EXPECT_TRUE(stopped()) << "it would stop again with the next result, and each assign stops all that is read";
  result("b", "1");
  EXPECT_FALSE(stopped());
}

// Beside `audit` a newest target, `search`, which fails for everybody until an operator says otherwise.
class RequestsBesideRetries : public RequestsOf {
 protected:
  RequestsBesideRetries() : RequestsOf(settings()) {
    request("lost");
    fail("search", "permanent", "universal");
  }
  static config::Settings settings() {
    config::Settings settings = with_order("total");
    settings.targets.push_back({.name = "search"});
    settings.failures_mode = "retry";
    settings.failures_breaker_documents = 1;
    return settings;
  }
  void fail(const std::string& target, const std::string& kind, const std::string& scope) {
    const std::vector<simulation::StoredHeader> headers = {
        {"reseq-command", "fail"},      {"reseq-seq", "1"},
        {"reseq-target", target},       {"reseq-failure", kind},
        {"reseq-failure-scope", scope}, {"reseq-error", "the disk is full"}};
    broker.append({*broker.topic("app.commands"), Partition(0)}, {"lost", "{}", headers, broker.now()});
    steps(50);
  }
  [[nodiscard]] std::uint64_t held_bytes() { return worker.report().partitions.front().held_bytes; }
};

TEST_F(RequestsBesideRetries, AreNotReadWhileTooMuchIsHeldForATotalTarget) {
  request("kept");
  result("kept", "1", kHeldBytesMax + 1);
  EXPECT_TRUE(stopped()) << "what is held grows without a bound";
  result("lost");
  EXPECT_FALSE(stopped());
}

TEST_F(RequestsBesideRetries, AreNotNeededForTheRetryThatAllWaitFor) {
  request("kept");
  result("kept", "1", kHeldBytesMax + 1);
  ASSERT_TRUE(stopped());
  fail("audit", "transient", "document");
  const auto sent = [&] { return broker.log({*broker.topic("app.work"), Partition(0)}).high_watermark(); };
  const auto before = sent();
  ticks(static_cast<int>(application.settings.failures_backoff_ms / 5));
  steps(500);
  EXPECT_GT(sent(), before) << "the retry waits for requests, and they for it";
  EXPECT_TRUE(stopped());
}

TEST_F(RequestsBesideRetries, AreReadWhateverIsHeldOfThemForATargetThatIsDown) {
  broker.append(
      {*broker.topic("app.requests"), Partition(0)},
      {"waits", std::string(kHeldBytesMax / 3, 'x'), {{"reseq-seq", "1"}, {"reseq-targets", "search"}}, broker.now()});
  steps(50);
  ASSERT_GT(held_bytes(), kHeldBytesMax / 3) << "it does not wait for its target as it came";
  request("kept");
  result("kept", "1", kHeldBytesMax * 5 / 6);
  ASSERT_GT(held_bytes(), kHeldBytesMax);
  EXPECT_FALSE(stopped()) << "a target that is down stops all others";
}

TEST(HeldResults, StopRequestsOnlyWhereNothingElseBoundsThem) {
  const auto stop = [](const std::string& order, const std::string& failures) {
    config::Settings settings = with_order(order);
    settings.failures_mode = failures;
    return Application(settings).held_stops_requests;
  };
  EXPECT_TRUE(stop("strict", "off"));
  EXPECT_TRUE(stop("total", "off"));
  EXPECT_FALSE(stop("strict", "retry")) << "each version waits until there is room";
  EXPECT_TRUE(stop("total", "retry")) << "the documents behind one that is tried again are not its own";
  config::Settings tap = with_order("strict");
  tap.intake = "tap";
  EXPECT_FALSE(Application(tap).held_stops_requests) << "the pipeline reads them all the same";
  EXPECT_FALSE(stop("newest", "off"));
  EXPECT_FALSE(stop("monotonic", "retry"));
}

}  // namespace
}  // namespace reseq::runtime
