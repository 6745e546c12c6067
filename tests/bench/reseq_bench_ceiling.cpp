// reseq-bench-ceiling: what Kafka can carry through one client at best. Plain librdkafka: each request goes to work as
// it is, with its headers and without a copy of its payload, and a 40-byte record to the changelog beside it; offsets
// are part of the transaction. A transaction ends when nothing waits, at kBatchRecordsMax or after kBatchTime.
// The settings are the best that were found; what the resequencer does better belongs here too.
// Thread rule: one thread.
#include <CLI/CLI.hpp>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <sysexits.h>
#include <utility>

#include "base/usage.h"
#include "kafka/handles.h"

namespace {

using namespace reseq::kafka;  // NOLINT(google-build-using-namespace): the words of this program

constexpr std::size_t kBatchRecordsMax = 25'000;
constexpr std::chrono::milliseconds kBatchTime{100};
constexpr int kIdlePollMs = 100;
constexpr int kCallMs = 30'000;
constexpr std::array<char, 40> kRow{};

volatile std::sig_atomic_t stop_requested = 0;
void request_stop(int) {
  stop_requested = 1;
}

void check(bool good, const std::string& what) {
  if (!good) throw std::runtime_error(what);
}

void check(rd_kafka_error_t* error, const char* what) {
  const ErrorHandle owner(error);
  if (error != nullptr) throw std::runtime_error(std::string(what) + ": " + rd_kafka_error_string(error));
}

using Properties = std::map<std::string, std::string>;

ConfHandle conf_of(const Properties& properties) {
  ConfHandle conf(rd_kafka_conf_new());
  std::array<char, 256> text{};
  for (const auto& [name, value] : properties)
    check(rd_kafka_conf_set(conf.get(), name.c_str(), value.c_str(), text.data(), text.size()) == RD_KAFKA_CONF_OK,
          text.data());
  return conf;
}

rd_kafka_t* client_of(rd_kafka_type_t type, ConfHandle conf) {
  std::array<char, 256> text{};
  rd_kafka_t* client = rd_kafka_new(type, conf.get(), text.data(), text.size());
  check(client != nullptr, text.data());
  (void)conf.release();
  return client;
}

// The consumed message is what the produced record points to.
void on_delivery(rd_kafka_t*, const rd_kafka_message_t* report, void*) {
  if (report->err != RD_KAFKA_RESP_ERR_NO_ERROR) std::fprintf(stderr, "%s\n", rd_kafka_err2str(report->err));
  if (report->_private != nullptr) rd_kafka_message_destroy(static_cast<rd_kafka_message_t*>(report->_private));
}

class Ceiling {
 public:
  Ceiling(const std::string& servers, const std::string& application) : requests_(application + ".requests") {
    consumer_.reset(client_of(RD_KAFKA_CONSUMER, conf_of({{"bootstrap.servers", servers},
                                                          {"socket.nagle.disable", "true"},
                                                          {"group.id", application},
                                                          {"isolation.level", "read_committed"},
                                                          {"enable.auto.commit", "false"},
                                                          {"enable.auto.offset.store", "false"},
                                                          {"auto.offset.reset", "earliest"},
                                                          {"fetch.wait.max.ms", "100"},
                                                          {"queued.max.messages.kbytes", "65536"}})));
    rd_kafka_poll_set_consumer(consumer_.get());
    ConfHandle conf = conf_of({{"bootstrap.servers", servers},
                               {"socket.nagle.disable", "true"},
                               {"transactional.id", application},
                               {"retry.backoff.ms", "10"},
                               {"linger.ms", "5"},
                               {"compression.codec", "none"},
                               {"partitioner", "murmur2_random"},
                               {"queue.buffering.max.messages", "1000000"}});
    rd_kafka_conf_set_dr_msg_cb(conf.get(), on_delivery);
    producer_.reset(client_of(RD_KAFKA_PRODUCER, std::move(conf)));
    work_.reset(rd_kafka_topic_new(producer_.get(), (application + ".work").c_str(), nullptr));
    changelog_.reset(rd_kafka_topic_new(producer_.get(), (application + ".changelog").c_str(), nullptr));
    const PartitionList topics(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(topics.get(), requests_.c_str(), RD_KAFKA_PARTITION_UA);
    check(rd_kafka_subscribe(consumer_.get(), topics.get()) == RD_KAFKA_RESP_ERR_NO_ERROR, "subscribe");
  }

  void run() {
    check(rd_kafka_init_transactions(producer_.get(), kCallMs), "init_transactions");
    while (stop_requested == 0) {
      MessageHandle first(rd_kafka_consumer_poll(consumer_.get(), kIdlePollMs));
      if (first != nullptr) run_transaction(std::move(first));
    }
    rd_kafka_consumer_close(consumer_.get());
  }

 private:
  using Clock = std::chrono::steady_clock;

  void run_transaction(MessageHandle message) {
    const auto until = Clock::now() + kBatchTime;
    check(rd_kafka_begin_transaction(producer_.get()), "begin");
    for (std::size_t records = 1; message != nullptr; ++records) {
      pass_on(std::move(message));
      if (records % 256 == 0) rd_kafka_poll(producer_.get(), 0);
      if (records == kBatchRecordsMax || (records % 64 == 0 && Clock::now() > until)) break;
      message.reset(rd_kafka_consumer_poll(consumer_.get(), 0));
    }
    commit();
  }

  void pass_on(MessageHandle message) {
    check(message->err == RD_KAFKA_RESP_ERR_NO_ERROR, rd_kafka_err2str(message->err));
    const std::int32_t partition = message->partition;
    next_[partition] = message->offset + 1;
    rd_kafka_headers_t* headers = nullptr;
    rd_kafka_message_detach_headers(message.get(), &headers);
    const rd_kafka_message_t& in = *message;
    send({work_.get(), 0, RD_KAFKA_PARTITION_UA, in.payload, in.len, in, headers, message.release()});
    send({changelog_.get(), RD_KAFKA_MSG_F_COPY, partition, const_cast<char*>(kRow.data()), kRow.size(), in, nullptr,
          nullptr});
  }

  struct Out {
    rd_kafka_topic_t* topic;
    int flags;
    std::int32_t partition;
    void* payload;
    std::size_t bytes;
    const rd_kafka_message_t& keyed_as;
    rd_kafka_headers_t* headers;
    rd_kafka_message_t* owner;
  };
  void send(const Out& out) {
    std::array<rd_kafka_vu_t, 7> fields{};
    std::size_t count = 0;
    const auto add = [&](rd_kafka_vtype_t type) -> rd_kafka_vu_t& {
      fields[count].vtype = type;
      return fields[count++];
    };
    const auto add_bytes = [&](rd_kafka_vtype_t type, void* bytes, std::size_t size) {
      rd_kafka_vu_t& field = add(type);
      field.u.mem.ptr = bytes;
      field.u.mem.size = size;
    };
    add(RD_KAFKA_VTYPE_RKT).u.rkt = out.topic;
    add(RD_KAFKA_VTYPE_MSGFLAGS).u.i = out.flags;
    add(RD_KAFKA_VTYPE_PARTITION).u.i32 = out.partition;
    add_bytes(RD_KAFKA_VTYPE_VALUE, out.payload, out.bytes);
    add_bytes(RD_KAFKA_VTYPE_KEY, out.keyed_as.key, out.keyed_as.key_len);
    add(RD_KAFKA_VTYPE_OPAQUE).u.ptr = out.owner;
    if (out.headers != nullptr) add(RD_KAFKA_VTYPE_HEADERS).u.headers = out.headers;
    check(rd_kafka_produceva(producer_.get(), fields.data(), count), "produce");
  }

  void commit() {
    check(rd_kafka_flush(producer_.get(), kCallMs) == RD_KAFKA_RESP_ERR_NO_ERROR, "flush");
    const PartitionList offsets(rd_kafka_topic_partition_list_new(static_cast<int>(next_.size())));
    for (const auto& [partition, offset] : next_)
      rd_kafka_topic_partition_list_add(offsets.get(), requests_.c_str(), partition)->offset = offset;
    const GroupMetadataHandle group(rd_kafka_consumer_group_metadata(consumer_.get()));
    check(rd_kafka_send_offsets_to_transaction(producer_.get(), offsets.get(), group.get(), kCallMs), "send offsets");
    check(rd_kafka_commit_transaction(producer_.get(), kCallMs), "commit");
  }

  std::string requests_;
  // Messages in flight belong to the consumer: it goes last.
  ConsumerHandle consumer_;
  ProducerHandle producer_;
  TopicHandle work_;
  TopicHandle changelog_;
  std::map<std::int32_t, std::int64_t> next_;  // by partition
};

}  // namespace

int main(int argc, char** argv) {
  std::string servers;
  std::string application;
  CLI::App app("What Kafka carries at best: requests to work and changelog, exactly once", "reseq-bench-ceiling");
  app.add_option("--bootstrap-servers", servers, "host:port of brokers, comma separated")->required();
  app.add_option("--application", application, "prefix of the topics, name of the group")->required();
  if (const auto code = reseq::parse(app, argc, argv)) return *code;
  std::signal(SIGTERM, request_stop);
  std::signal(SIGINT, request_stop);
  try {
    Ceiling(servers, application).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "reseq-bench-ceiling: %s\n", error.what());
    return EX_SOFTWARE;
  }
  return EX_OK;
}
