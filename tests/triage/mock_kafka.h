// A broker inside of this process that answers with errors on demand: librdkafka's mock cluster. One broker is every
// coordinator and every leader. Good for the paths that errors take and for nothing else: it stores no offsets of
// transactions, knows no aborted records and fences nobody.
// Thread rule: one thread drives it; the mock answers from a thread of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kafka/handles.h"
// clang-format off
#include <librdkafka/rdkafka_mock.h>  // after rdkafka.h, as it demands
// clang-format on
#include "tests/support/kafka_api.h"

namespace reseq::triage {

using test::Api;

class MockKafka {
 public:
  explicit MockKafka(int brokers = 1);
  ~MockKafka();
  MockKafka(const MockKafka&) = delete;
  MockKafka& operator=(const MockKafka&) = delete;

  [[nodiscard]] std::string bootstrap_servers() const;
  void create_topic(const std::string& name, int partitions = 1);

  // The next `times` answers to this request carry the error. _TRANSPORT: the connection is cut instead. _TIMED_OUT: a
  // good answer comes `late`, when nobody waits for it any more.
  void fail(Api api, rd_kafka_resp_err_t code, std::size_t times, Milliseconds late);
  // How many of them have not been given yet.
  [[nodiscard]] std::size_t left(Api api) const;

  // Every answer carries the error until it is ended. Not for _TIMED_OUT.
  void fail_always(Api api, rd_kafka_resp_err_t code);
  void end_failing(Api api);

  // What metadata says of the topic from now on. The mock says the same when the topic is added to a transaction.
  void fail_topic(const std::string& name, rd_kafka_resp_err_t code);

  [[nodiscard]] rd_kafka_mock_cluster_t* get() { return cluster_; }

 private:
  kafka::ProducerHandle owner_;
  rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

}  // namespace reseq::triage
