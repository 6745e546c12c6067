// A producer closes connections that it does not use. Whoever reads the log is told of brokers that are away, and not
// of that.
#include <algorithm>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kafka/librdkafka_cluster.h"
#include "runtime/clients.h"
#include "tests/e2e/patience.h"
#include "tests/support/good.h"
#include "tests/triage/subject.h"

namespace reseq::triage {
namespace {

using test::good;

constexpr Milliseconds kShortSocketTimeout{1'100};
constexpr Milliseconds kCall{10'000};
// Four socket time-outs, and librdkafka looks once a second.
constexpr std::chrono::milliseconds kIdle{6'000};
constexpr std::chrono::milliseconds kDownLimit{30'000};

class IdleProducer : public testing::Test {
 protected:
  IdleProducer() {
    kafka::ClusterSettings settings = runtime::cluster_settings_of(subject_.application(), 0);
    settings.connection.socket_timeout = kShortSocketTimeout;
    settings.connection.log = [this](int, std::string_view, std::string_view text) {
      const std::scoped_lock lock(mutex_);
      log_.emplace_back(text);
    };
    cluster_ = good(kafka::open_cluster(settings));
    producer_ = good(cluster_->producer());
    good(producer_->init(kCall));
  }
  ~IdleProducer() override {
    producer_.reset();  // before what its log goes to
    cluster_.reset();
  }
  // That all brokers are away.
  [[nodiscard]] std::ptrdiff_t times_told() {
    producer_->poll(Milliseconds(0));
    const std::scoped_lock lock(mutex_);
    return std::count_if(log_.begin(), log_.end(),
                         [](const std::string& line) { return line.find("brokers are down") != std::string::npos; });
  }
  void transact() {
    good(producer_->begin());
    good(producer_->produce({.topic = subject_.application().topics.of(Role::kChangelog), .partition = Partition(0)}));
    EXPECT_TRUE(test::wait_until(kDownLimit, [this] { return producer_->commit(kCall).ok(); }));
  }

  Subject subject_;
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<kafka::Producer> producer_;
};

TEST_F(IdleProducer, SaysNothingWhenItsLastConnectionIsClosed) {
  std::this_thread::sleep_for(kIdle);
  EXPECT_EQ(times_told(), 0);
}

TEST_F(IdleProducer, SaysThatAllBrokersAreAwayOnceAndNotAgainWhenItIsIdleLater) {
  rd_kafka_mock_broker_set_down(subject_.kafka().get(), -1);
  EXPECT_TRUE(test::wait_until(kDownLimit, [this] { return times_told() == 1; }));
  rd_kafka_mock_broker_set_up(subject_.kafka().get(), -1);
  transact();
  std::this_thread::sleep_for(kIdle);
  EXPECT_EQ(times_told(), 1);
}

}  // namespace
}  // namespace reseq::triage
