#include "tests/security/guarded_broker.h"

#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <unistd.h>

#include "kafka/handles.h"
#include "tests/support/source_path.h"

namespace reseq::test {

namespace {

const std::string kScript = source_path("script/kafka");
constexpr int kBrokerLimitMs = 180'000;
constexpr const char* kUser = "User:reseq";

std::string read(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

struct DestroyBinding {
  void operator()(rd_kafka_AclBinding_t* binding) const { rd_kafka_AclBinding_destroy(binding); }
};
using Binding = std::unique_ptr<rd_kafka_AclBinding_t, DestroyBinding>;

rd_kafka_AclOperation_t operation_of(kafka::Operation operation) {
  switch (operation) {
    case kafka::Operation::kRead:
      return RD_KAFKA_ACL_OPERATION_READ;
    case kafka::Operation::kWrite:
      return RD_KAFKA_ACL_OPERATION_WRITE;
    case kafka::Operation::kDescribeConfigs:
      return RD_KAFKA_ACL_OPERATION_DESCRIBE_CONFIGS;
  }
  throw std::runtime_error("no operation");
}

Binding binding_of(const kafka::Right& right, bool filter) {
  const auto make = filter ? rd_kafka_AclBindingFilter_new : rd_kafka_AclBinding_new;
  std::array<char, 256> text{};
  Binding binding(make(right.resource == kafka::Resource::kGroup ? RD_KAFKA_RESOURCE_GROUP : RD_KAFKA_RESOURCE_TOPIC,
                       right.name.c_str(), RD_KAFKA_RESOURCE_PATTERN_LITERAL, kUser, "*", operation_of(right.operation),
                       RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, text.data(), text.size()));
  if (!binding) throw std::runtime_error(text.data());
  return binding;
}

// Sends one request of the admin protocol and waits for its answer.
template <typename Request>
void administrate(const std::string& bootstrap_servers, Request request) {
  std::array<char, 256> text{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap_servers.c_str(), text.data(), text.size());
  const kafka::ProducerHandle client(rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size()));
  if (!client) throw std::runtime_error(text.data());
  const kafka::QueueHandle queue(rd_kafka_queue_new(client.get()));
  request(client.get(), queue.get());
  const kafka::EventHandle event(rd_kafka_queue_poll(queue.get(), kBrokerLimitMs));
  if (!event || rd_kafka_event_error(event.get()) != RD_KAFKA_RESP_ERR_NO_ERROR)
    throw std::runtime_error(std::string("ACLs: ") + (event ? rd_kafka_event_error_string(event.get()) : "no answer"));
}

}  // namespace

GuardedBroker& GuardedBroker::shared() {
  static GuardedBroker broker;
  return broker;
}

GuardedBroker::GuardedBroker() {
  write_properties();
  Process start(
      {kScript, "start", "--dir", dir(), "--while", std::to_string(::getpid()), "--listener", "tls:SSL", "--listener",
       "mtls:SSL", "--listener", "expired:SSL", "--listener", "login:SASL_SSL", "--properties", path("properties")},
      path("log"));
  if (start.wait(kBrokerLimitMs) != 0) throw std::runtime_error("no guarded broker: " + start.tail());
}

GuardedBroker::~GuardedBroker() {
  Process wipe({kScript, "wipe", "--dir", dir()}, path("log"));
  (void)wipe.wait(kBrokerLimitMs);
}

void GuardedBroker::write_properties() {
  std::ofstream out(path("properties"));
  out << "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"
      << "super.users=User:ANONYMOUS;User:CN=client;User:scram\n"
      << "ssl.truststore.type=PEM\nssl.truststore.location=" << certificates_.authority() << "\n"
      << "ssl.keystore.type=PEM\nssl.keystore.location=" << certificates_.issue("broker", "IP:127.0.0.1").both << "\n"
      << "listener.name.mtls.ssl.client.auth=required\n"
      << "listener.name.expired.ssl.keystore.type=PEM\nlistener.name.expired.ssl.keystore.location="
      << certificates_.issue("expired", "IP:127.0.0.1", Certificates::Validity::kExpired).both << "\n"
      << "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512\n"
      << "listener.name.login.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
         "user_reseq=\"correct-horse\";\n"
      << "listener.name.login.scram-sha-512.sasl.jaas.config="
         "org.apache.kafka.common.security.scram.ScramLoginModule required;\n";
}

std::string GuardedBroker::address(const std::string& listener) const {
  std::string address;
  std::ifstream(dir() + "/bootstrap" + (listener == "plain" ? "" : "." + listener)) >> address;
  return address;
}

std::string GuardedBroker::way_in(const std::string& listener) const {
  if (listener == "plain") return "";
  const std::string authority = "\"ssl.ca.location\" = \"" + folder_.path() + "/certificates/authority.pem\"\n";
  if (listener != "login") return "\"security.protocol\" = \"ssl\"\n" + authority;
  return "\"security.protocol\" = \"sasl_ssl\"\n" + authority +
         "\"sasl.mechanism\" = \"PLAIN\"\n\"sasl.username\" = \"reseq\"\n\"sasl.password\" = \"correct-horse\"\n";
}

void GuardedBroker::grant(const kafka::Right& right) {
  const Binding binding = binding_of(right, false);
  administrate(address("plain"), [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_AclBinding_t* one = binding.get();
    rd_kafka_CreateAcls(client, &one, 1, nullptr, queue);
  });
}

void GuardedBroker::revoke(const kafka::Right& right) {
  const Binding filter = binding_of(right, true);
  administrate(address("plain"), [&](rd_kafka_t* client, rd_kafka_queue_t* queue) {
    rd_kafka_AclBindingFilter_t* one = filter.get();
    rd_kafka_DeleteAcls(client, &one, 1, nullptr, queue);
  });
}

std::string GuardedBroker::kafka_program(const std::string& name, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {kScript, "tool", name};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  const std::string output = path("output-" + std::to_string(++outputs_));
  Process process(argv, output);
  const int code = process.wait(kBrokerLimitMs);
  return code == 0 ? read(output) : "exit code " + std::to_string(code) + ": " + read(output);
}

}  // namespace reseq::test
