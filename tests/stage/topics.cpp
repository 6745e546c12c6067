#include "tests/stage/topics.h"

#include <utility>

#include "tests/e2e/outputs.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {
namespace {

constexpr Milliseconds kLimit{30'000};

}  // namespace

Topics::Topics(const std::string& what, kafka::Properties commands_configs) : application_(unique_name(what)) {
  connection_.bootstrap_servers = Broker::shared().bootstrap_servers();
  admin_ = good(kafka::Admin::open(connection_));
  const std::vector<kafka::TopicSpec> specs = {
      {.name = application_ + ".work", .partitions = 4},
      {.name = application_ + ".commands", .partitions = 4, .configs = std::move(commands_configs)}};
  good(admin_->create_topics(specs, kLimit));
  producer_ = good(kafka::PlainProducer::open(connection_));
}

void Topics::write(const std::string& id, const std::string& payload) {
  const std::vector<Header> headers = {{"reseq-seq", "1"}, {"reseq-epoch", "0"}, {"reseq-targets", "search"}};
  good(producer_->send(application_ + ".work", id, payload, headers));
}

void Topics::flush() {
  good(producer_->flush(kLimit));
}

std::unique_ptr<Process> Topics::start(const std::string& name, std::vector<std::string> options,
                                       const std::vector<std::string>& command) const {
  std::vector<std::string> argv = {program("reseq-stage"), "--bootstrap-servers", connection_.bootstrap_servers,
                                   "--application-id", application_};
  argv.insert(argv.end(), std::make_move_iterator(options.begin()), std::make_move_iterator(options.end()));
  argv.emplace_back("--");
  argv.insert(argv.end(), command.begin(), command.end());
  return std::make_unique<Process>(argv, folder_.path() + "/" + name + ".log");
}

std::map<std::string, int> Topics::results() const {
  std::map<std::string, int> seen;
  read_all(connection_, application_ + ".commands",
           [&](const kafka::PlainRecord& record) { ++seen[std::string(record.key.value_or("(null)"))]; });
  return seen;
}

std::map<std::string, Partition> Topics::partitions() const {
  std::map<std::string, Partition> seen;
  read_all(connection_, application_ + ".commands",
           [&](const kafka::PlainRecord& record) { seen.emplace(record.key.value_or("(null)"), record.partition); });
  return seen;
}

std::int64_t Topics::progress() const {
  std::int64_t offsets = 0;
  for (const kafka::PlainOffset& end : good(admin_->stable_ends(application_ + ".commands", kLimit)))
    offsets += end.offset.value();
  return offsets;
}

std::int64_t Topics::lag() const {
  return good(admin_->lag(application_ + ".stage", application_ + ".work", kLimit));
}

}  // namespace reseq::test
