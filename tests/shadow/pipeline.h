// Pipeline: two topics of a pipeline that knows nothing of the resequencer, whoever writes into them, and an observer
// that is started on them with the command line alone.
// Thread rule: one thread.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kafka/plain_producer.h"
#include "tests/support/process.h"

namespace reseq::test {

// What an observer that start() gave may take to its end once it is told to end, or killed.
inline constexpr int kEndLimitMs = 60'000;

class Pipeline {
 public:
  Pipeline(int input_partitions, int output_partitions);

  // The id is the key, the sequence is in header `version`, as decimal.
  void order(const std::string& id, std::uint64_t version, std::int64_t at_ms);
  void indexed(const std::string& id, std::uint64_t version, std::int64_t at_ms);
  void send(const std::string& topic, std::optional<std::string_view> key, const std::vector<Header>& headers,
            std::int64_t at_ms, std::optional<Partition> partition = {});
  void flush();

  struct Ran {
    int code = 0;
    std::string text;   // stdout
    std::string error;  // stderr
    [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(text); }
  };
  // To its end. Topics, places and the state folder are added.
  Ran observe(const std::vector<std::string>& more);
  Ran report(const std::vector<std::string>& more = {});
  // Runs until it is told to end.
  std::unique_ptr<Process> start(const std::vector<std::string>& more);
  // A program of this build, without a shell between it and the test but for the two files.
  Ran run(const std::vector<std::string>& argv);

  [[nodiscard]] const std::string& input() const { return input_; }
  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  [[nodiscard]] const kafka::Connection& connection() const { return connection_; }

 private:
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& more) const;

  TempDir folder_;
  kafka::Connection connection_;
  std::string input_;
  std::string output_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  int files_ = 0;
};

// What a broker holds that an observer must not change, as text: topics with their partitions, groups with their
// members and committed offsets of these topics, ends of the logs.
[[nodiscard]] std::string broker_facts(const kafka::Connection& connection);

}  // namespace reseq::test
