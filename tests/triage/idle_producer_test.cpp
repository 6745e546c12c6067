// A producer closes connections that it does not use, and whoever reads the log does not take that for an outage.
#include <algorithm>
#include <gtest/gtest.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "kafka/librdkafka_cluster.h"
#include "runtime/application/clients.h"
#include "tests/e2e/patience.h"
#include "tests/support/good.h"
#include "tests/triage/subject.h"

namespace reseq::triage {
namespace {

using test::good;

constexpr Milliseconds kShortSocketTimeout{1'100};
constexpr Milliseconds kCall{10'000};
constexpr std::chrono::milliseconds kClosedLimit{30'000};
constexpr std::chrono::milliseconds kUntilTold{200};
constexpr std::ptrdiff_t kClosings = 4;  // of both connections, twice

class IdleProducer : public testing::Test {
 protected:
  IdleProducer() {
    kafka::ClusterSettings settings = runtime::cluster_settings_of(subject_.application(), 0);
    settings.connection.socket_timeout = kShortSocketTimeout;
    settings.connection.librdkafka = {{"debug", "broker"}};  // which tells why a connection is closed
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
  [[nodiscard]] std::ptrdiff_t times_told(std::string_view words) {
    producer_->poll(Milliseconds(0));
    const std::scoped_lock lock(mutex_);
    return std::count_if(log_.begin(), log_.end(),
                         [&](const std::string& line) { return line.find(words) != std::string::npos; });
  }

  Subject subject_;
  std::mutex mutex_;
  std::vector<std::string> log_;
  std::unique_ptr<kafka::Cluster> cluster_;
  std::unique_ptr<kafka::Producer> producer_;
};

TEST_F(IdleProducer, SaysNothingWhenItsLastConnectionIsClosed) {
  EXPECT_TRUE(test::wait_until(kClosedLimit, [this] { return times_told("max idle time exceeded") >= kClosings; }));
  std::this_thread::sleep_for(kUntilTold);
  EXPECT_EQ(times_told("brokers are down"), 0);
}

}  // namespace
}  // namespace reseq::triage
