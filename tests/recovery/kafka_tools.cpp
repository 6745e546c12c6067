#include "tests/recovery/kafka_tools.h"

#include <fstream>
#include <stdexcept>

#include "tests/e2e/patience.h"
#include "tests/support/process.h"
#include "tests/support/source_path.h"

namespace reseq::test {

namespace {

constexpr int kLimitMs = 180'000;
constexpr std::chrono::milliseconds kGroupLimit{60'000};

// What it printed; throws when it failed.
std::string run(const std::string& tool, const std::vector<std::string>& arguments) {
  const TempDir folder;
  const std::string output = folder.path() + "/output";
  std::vector<std::string> argv = {source_path("script/kafka"), "tool", tool};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Process process(argv, output);
  const int code = process.wait(kLimitMs);
  if (code != 0) throw std::runtime_error(tool + " ended with " + std::to_string(code) + ": " + process.tail());
  return process.tail();
}

}  // namespace

void KafkaTools::delete_records(const std::vector<DeletedRecords>& records) const {
  const TempDir folder;
  const std::string file = folder.path() + "/records.json";
  std::ofstream json(file);
  json << R"({"version":1,"partitions":[)";
  for (std::size_t i = 0; i < records.size(); ++i)
    json << (i == 0 ? "" : ",") << R"({"topic":")" << records[i].topic << R"(","partition":)" << records[i].partition
         << R"(,"offset":)" << records[i].before << "}";
  json << "]}";
  json.close();
  const std::string printed = run("org.apache.kafka.tools.DeleteRecordsCommand",
                                  {"--bootstrap-server", bootstrap_servers_, "--offset-json-file", file});
  if (printed.find("error") != std::string::npos) throw std::runtime_error(printed);
}

void KafkaTools::configure_topic(const std::string& topic, const std::string& setting) const {
  (void)run("kafka.admin.ConfigCommand", {"--bootstrap-server", bootstrap_servers_, "--alter", "--entity-type",
                                          "topics", "--entity-name", topic, "--add-config", setting});
}

void KafkaTools::add_partitions(const std::string& topic, int partitions) const {
  (void)run("org.apache.kafka.tools.TopicCommand", {"--bootstrap-server", bootstrap_servers_, "--alter", "--topic",
                                                    topic, "--partitions", std::to_string(partitions)});
}

void KafkaTools::delete_group(const std::string& group) const {
  change_group({"--delete", "--group", group}, "successful");
}

void KafkaTools::delete_offsets(const std::string& group, const std::vector<std::string>& topics, int partition) const {
  std::vector<std::string> arguments = {"--delete-offsets", "--group", group};
  for (const std::string& topic : topics) {
    arguments.emplace_back("--topic");
    arguments.push_back(topic + ":" + std::to_string(partition));
  }
  change_group(arguments, "Successful");
}

void KafkaTools::reset_offsets(const std::string& group, const std::string& topic, int partition,
                               std::int64_t offset) const {
  change_group({"--reset-offsets", "--execute", "--group", group, "--topic", topic + ":" + std::to_string(partition),
                "--to-offset", std::to_string(offset)},
               "NEW-OFFSET");
}

void KafkaTools::change_group(const std::vector<std::string>& arguments, const std::string& success) const {
  std::vector<std::string> all = {"--bootstrap-server", bootstrap_servers_};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::string printed;
  const bool changed = wait_until(kGroupLimit, [&] {
    try {
      printed = run("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", all);
    } catch (const std::runtime_error& error) {
      printed = error.what();
      return false;
    }
    return printed.find(success) != std::string::npos && printed.find("Error") == std::string::npos;
  });
  if (!changed) throw std::runtime_error(printed);
}

}  // namespace reseq::test
