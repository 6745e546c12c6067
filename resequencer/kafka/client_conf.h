// ClientConf: the properties of one client on their way into librdkafka. The first property that is refused is what
// make_…() answers.
// Thread rule: one thread; the log callback of the context is called from librdkafka's threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "kafka/handles.h"
#include "kafka/settings.h"

namespace reseq::kafka {

// What callbacks find behind their opaque pointer. Outlives the client.
struct ClientContext {
  LogCallback log;
  void* client = nullptr;  // the object of ours that owns the client
  // Of a client that closes connections which it does not use. When the last one is closed librdkafka says that all
  // brokers are down.
  bool closes_idle = false;
  // Of an admin client: the last thing that kept it from its brokers, and what was wrong with their certificate
  // (X509_V_ERR_…, 0 = nothing; written by librdkafka's threads).
  std::optional<Error> trouble;
  bool all_down = false;  // and that no broker was left
  std::atomic<int> certificate_error = 0;
};
[[nodiscard]] inline ClientContext& context_of(void* opaque) {
  return *static_cast<ClientContext*>(opaque);
}

class ClientConf {
 public:
  // Address, identity, socket timeout and log, and what is passed through. REQUIRES: check(connection) was good.
  ClientConf(const Connection& connection, ClientContext& context);

  ClientConf& set(const char* name, const std::string& value);
  ClientConf& set(const char* name, const char* value) { return set(name, std::string(value)); }
  ClientConf& set(const char* name, Milliseconds value) { return set(name, std::to_string(value.value())); }
  ClientConf& set_number(const char* name, std::uint64_t value) { return set(name, std::to_string(value)); }
  ClientConf& set_flag(const char* name, bool value) { return set(name, value ? "true" : "false"); }
  // Among what is passed through.
  [[nodiscard]] bool user_sets(const char* name) const { return user_sets_.contains(name); }
  // Properties that only newer versions know.
  ClientConf& set_if_known(const char* name, const char* value);

  // Of every consumer: nothing is committed or reset by itself, bounded memory, quick wake-up.
  ClientConf& set_reader(Isolation isolation, std::uint64_t message_bytes_max, std::uint64_t queue_bytes_max);
  // Behind set_reader(): for who is assigned anew all the time, for a few records each time. What is fetched beyond
  // them is for nothing. A new place is fetched when the fetch before has come back, and behind the end of a log that
  // takes as long as it may wait.
  ClientConf& fetch_little();

  [[nodiscard]] rd_kafka_conf_t* get() { return conf_.get(); }

  // kInvalid: a property, or the loaded version of librdkafka, is refused.
  Result<ConsumerHandle> make_consumer();
  Result<ProducerHandle> make_producer();

 private:
  Result<rd_kafka_t*> make(rd_kafka_type_t type);

  ConfHandle conf_;
  std::set<std::string> user_sets_;
  bool pushes_metrics_ = true;
  std::optional<Error> failure_;
};

}  // namespace reseq::kafka
