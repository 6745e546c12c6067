#include "tests/bench/clocked_producer.h"

#include <array>
#include <stdexcept>
#include <utility>

namespace reseq::bench {

namespace {

constexpr int kCallMs = 30'000;
constexpr int kPollMs = 100;

void check(rd_kafka_error_t* error, const char* what) {
  const kafka::ErrorHandle owner(error);
  if (error != nullptr) throw std::runtime_error(std::string(what) + ": " + rd_kafka_error_string(error));
}

// A delivery that failed leaves its moment at 0.
void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR && message->_private != nullptr)
    static_cast<Moment*>(message->_private)->store(now_ns());
}

}  // namespace

ClockedProducer::ClockedProducer(const std::string& bootstrap_servers, const std::string& transactional_id) {
  kafka::ConfHandle conf(rd_kafka_conf_new());
  std::array<char, 256> text{};
  const auto set = [&](const char* name, const std::string& value) {
    if (rd_kafka_conf_set(conf.get(), name, value.c_str(), text.data(), text.size()) != RD_KAFKA_CONF_OK)
      throw std::runtime_error(text.data());
  };
  set("bootstrap.servers", bootstrap_servers);
  set("enable.idempotence", "true");
  set("linger.ms", "0");
  set("partitioner", "murmur2_random");
  set("retry.backoff.ms", "10");  // of a transaction that was begun before the last one is complete
  if (!transactional_id.empty()) {
    set("transactional.id", transactional_id);
    set("socket.nagle.disable", "true");  // as all clients of the resequencer
  }
  rd_kafka_conf_set_dr_msg_cb(conf.get(), on_delivery);
  client_.reset(rd_kafka_new(RD_KAFKA_PRODUCER, conf.get(), text.data(), text.size()));
  if (!client_) throw std::runtime_error(text.data());
  (void)conf.release();
  if (!transactional_id.empty()) check(rd_kafka_init_transactions(client_.get(), kCallMs), "init_transactions");
  poller_ = std::jthread([this](const std::stop_token& stopped) {
    while (!stopped.stop_requested()) rd_kafka_poll(client_.get(), kPollMs);
  });
}

void ClockedProducer::send(const Outgoing& record, Moment* acknowledged) {
  kafka::HeadersHandle headers(rd_kafka_headers_new(record.headers.size()));
  for (const Header& header : record.headers) {
    const std::string_view value = header.value.value_or("");
    (void)rd_kafka_header_add(headers.get(), header.name.data(), static_cast<ssize_t>(header.name.size()), value.data(),
                              static_cast<ssize_t>(value.size()));
  }
  std::array<rd_kafka_vu_t, 6> fields{};
  fields[0].vtype = RD_KAFKA_VTYPE_TOPIC;
  fields[0].u.cstr = record.topic.c_str();
  fields[1].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
  fields[1].u.i = RD_KAFKA_MSG_F_COPY;
  fields[2].vtype = RD_KAFKA_VTYPE_KEY;
  fields[2].u.mem = {const_cast<char*>(record.key.data()), record.key.size()};
  fields[3].vtype = RD_KAFKA_VTYPE_VALUE;
  fields[3].u.mem = {const_cast<char*>(record.payload.data()), record.payload.size()};
  fields[4].vtype = RD_KAFKA_VTYPE_OPAQUE;
  fields[4].u.ptr = acknowledged;
  fields[5].vtype = RD_KAFKA_VTYPE_HEADERS;
  fields[5].u.headers = headers.get();
  check(rd_kafka_produceva(client_.get(), fields.data(), fields.size()), "produce");
  (void)headers.release();
}

void ClockedProducer::begin() {
  check(rd_kafka_begin_transaction(client_.get()), "begin");
}

void ClockedProducer::commit() {
  check(rd_kafka_commit_transaction(client_.get(), kCallMs), "commit");
}

void ClockedProducer::flush() {
  if (rd_kafka_flush(client_.get(), kCallMs) != RD_KAFKA_RESP_ERR_NO_ERROR) throw std::runtime_error("flush");
}

}  // namespace reseq::bench
