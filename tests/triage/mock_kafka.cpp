#include "tests/triage/mock_kafka.h"

#include <array>
#include <stdexcept>
#include <vector>

namespace reseq::triage {

namespace {

constexpr std::int32_t kBroker = 1;
// More answers than any test waits for.
constexpr std::size_t kAlways = 20'000;

std::int16_t number(Api api) {
  return static_cast<std::int16_t>(api);
}

}  // namespace

MockKafka::MockKafka(int brokers) {
  std::array<char, 512> text{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "log_level", "0", text.data(), text.size());
  owner_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size()));
  if (!owner_) throw std::runtime_error(text.data());
  cluster_ = rd_kafka_mock_cluster_new(owner_.get(), brokers);
  if (cluster_ == nullptr) throw std::runtime_error("no mock cluster");
}

MockKafka::~MockKafka() {
  rd_kafka_mock_cluster_destroy(cluster_);
}

std::string MockKafka::bootstrap_servers() const {
  return rd_kafka_mock_cluster_bootstraps(cluster_);
}

void MockKafka::create_topic(const std::string& name, int partitions) {
  if (rd_kafka_mock_topic_create(cluster_, name.c_str(), partitions, 1) != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw std::runtime_error("no topic " + name);
}

void MockKafka::fail(Api api, rd_kafka_resp_err_t code, std::size_t times, Milliseconds late) {
  const bool is_late = code == RD_KAFKA_RESP_ERR__TIMED_OUT;
  for (std::size_t i = 0; i < times; ++i)
    rd_kafka_mock_broker_push_request_error_rtts(cluster_, kBroker, number(api), 1,
                                                 is_late ? RD_KAFKA_RESP_ERR_NO_ERROR : code,
                                                 is_late ? kafka::timeout_ms(late) : 0);
}

std::size_t MockKafka::left(Api api) const {
  std::size_t count = 0;
  rd_kafka_mock_broker_error_stack_cnt(cluster_, kBroker, number(api), &count);
  return count;
}

void MockKafka::fail_always(Api api, rd_kafka_resp_err_t code) {
  const std::vector<rd_kafka_resp_err_t> codes(kAlways, code);
  rd_kafka_mock_push_request_errors_array(cluster_, number(api), codes.size(), codes.data());
}

void MockKafka::end_failing(Api api) {
  rd_kafka_mock_clear_request_errors(cluster_, number(api));
}

void MockKafka::fail_topic(const std::string& name, rd_kafka_resp_err_t code) {
  rd_kafka_mock_topic_set_error(cluster_, name.c_str(), code);
}

}  // namespace reseq::triage
