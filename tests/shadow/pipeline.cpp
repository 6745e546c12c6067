#include "tests/shadow/pipeline.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "kafka/admin.h"
#include "kafka/handles.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"

namespace reseq::test {

namespace {

constexpr int kRunLimitMs = 90'000;
constexpr Milliseconds kAskLimit{30'000};

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

Pipeline::Pipeline(int input_partitions, int output_partitions)
    : input_(unique_name("orders")), output_(input_ + ".indexed") {
  connection_.bootstrap_servers = Broker::shared().bootstrap_servers();
  connection_.client_id = "test";
  const auto admin = good(kafka::Admin::open(connection_));
  const std::vector<kafka::TopicSpec> topics = {{input_, input_partitions}, {output_, output_partitions}};
  good(admin->create_topics(topics, kAskLimit));
  producer_ = good(kafka::PlainProducer::open(connection_));
}

void Pipeline::send(const std::string& topic, std::optional<std::string_view> key, const std::vector<Header>& headers,
                    std::int64_t at_ms, std::optional<Partition> partition) {
  good(producer_->send(topic, key, "{}", headers, UnixMs(at_ms), partition));
}

void Pipeline::order(const std::string& id, std::uint64_t version, std::int64_t at_ms) {
  const std::string text = std::to_string(version);
  send(input_, id, {{"version", text}}, at_ms);
}

void Pipeline::indexed(const std::string& id, std::uint64_t version, std::int64_t at_ms) {
  const std::string text = std::to_string(version);
  send(output_, id, {{"version", text}}, at_ms);
}

void Pipeline::flush() {
  good(producer_->flush(kAskLimit));
}

std::vector<std::string> Pipeline::command(const std::vector<std::string>& more) const {
  std::vector<std::string> argv = {program("resequencer"),
                                   "observe",
                                   "--bootstrap-servers",
                                   connection_.bootstrap_servers,
                                   "--input-topic",
                                   input_,
                                   "--output-topic",
                                   output_,
                                   "--id",
                                   "key",
                                   "--sequence",
                                   "header:version",
                                   "--state-dir",
                                   path("observed")};
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

Pipeline::Ran Pipeline::run(const std::vector<std::string>& argv) {
  const std::string name = path("run-" + std::to_string(++files_));
  std::vector<std::string> words = {"sh", "-c", "out=$1; shift; exec \"$@\" >\"$out\"", "sh", name + ".out"};
  words.insert(words.end(), argv.begin(), argv.end());
  Process process(words, name + ".err");
  Ran ran;
  ran.code = process.wait(kRunLimitMs);
  ran.text = read(name + ".out");
  ran.error = read(name + ".err");
  return ran;
}

Pipeline::Ran Pipeline::observe(const std::vector<std::string>& more) {
  return run(command(more));
}

Pipeline::Ran Pipeline::report(const std::vector<std::string>& more) {
  std::vector<std::string> argv = {program("resequencer"), "report", "--state-dir", path("observed")};
  argv.insert(argv.end(), more.begin(), more.end());
  return run(argv);
}

std::unique_ptr<Process> Pipeline::start(const std::vector<std::string>& more) {
  return std::make_unique<Process>(command(more), path("observer.log"));
}

std::string broker_facts(const kafka::Connection& connection) {
  const auto admin = good(kafka::Admin::open(connection));
  std::array<char, 256> text{};
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  rd_kafka_conf_set(conf, "bootstrap.servers", connection.bootstrap_servers.c_str(), text.data(), text.size());
  const kafka::ConsumerHandle client(rd_kafka_new(RD_KAFKA_CONSUMER, conf, text.data(), text.size()));
  const rd_kafka_metadata_t* answer = nullptr;
  if (rd_kafka_metadata(client.get(), 1, nullptr, &answer, 30'000) != RD_KAFKA_RESP_ERR_NO_ERROR) return "no metadata";
  const kafka::MetadataHandle metadata(answer);
  const rd_kafka_group_list* list = nullptr;
  if (rd_kafka_list_groups(client.get(), nullptr, &list, 30'000) != RD_KAFKA_RESP_ERR_NO_ERROR) return "no groups";
  const kafka::GroupListHandle groups(list);
  std::vector<std::string> lines;
  for (int t = 0; t < metadata->topic_cnt; ++t) {
    const std::string topic = metadata->topics[t].topic;
    std::string line = "topic " + topic + " " + std::to_string(metadata->topics[t].partition_cnt);
    // Kafka's own topics of offsets and transactions change while others work.
    const bool internal = topic.starts_with("__");
    if (!internal)
      for (const kafka::PlainOffset& end : good(admin->stable_ends(topic, kAskLimit)))
        line += " " + std::to_string(end.offset.value());
    lines.push_back(line);
    for (int g = 0; !internal && g < groups->group_cnt; ++g) {
      std::string of_group = "offsets " + std::string(groups->groups[g].group) + " " + topic;
      for (const kafka::PlainOffset& one : good(admin->committed(groups->groups[g].group, topic, kAskLimit)))
        of_group += " " + std::to_string(one.offset.value());
      lines.push_back(of_group);
    }
  }
  for (int g = 0; g < groups->group_cnt; ++g) {
    const rd_kafka_group_info& group = groups->groups[g];
    std::string line = "group " + std::string(group.group) + " " + group.state;
    for (int m = 0; m < group.member_cnt; ++m) line += std::string(" ") + group.members[m].member_id;
    lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

}  // namespace reseq::test
