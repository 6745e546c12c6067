// Scene: an output topic without a resequencer, with its dead letters, a database, and sinks between them. What is
// written to the topic is remembered, to be compared with the table at the end.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kafka/admin.h"
#include "kafka/plain_producer.h"
#include "tests/postgres/server.h"
#include "tests/support/process.h"

namespace reseq::test {

const std::vector<std::string> kBytes = {"--payload", "bytea"};

inline std::vector<std::string> operator+(std::vector<std::string> some, const std::vector<std::string>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

class Scene {
 public:
  // `bootstrap_servers`: of the broker that all share, unless another is named.
  explicit Scene(const std::string& what, kafka::Properties configs = {}, const std::string& bootstrap_servers = "");

  // Releases of random documents among `documents`: each with a version above all before, in ten a delete, and
  // sometimes one again that was released before. Blobs of any bytes.
  void release(int count, int documents);
  // One record, as it is said. `version` 0: no header.
  void write(const std::string& id, std::uint64_t version, const std::optional<std::string>& payload);
  // A marker in place of the document; `error`: what was said, if anybody did.
  void fail(const std::string& id, std::uint64_t version, const std::optional<std::string>& error);
  void flush();

  // Makes the tables, and a role that may read and write them and nothing else; its name.
  [[nodiscard]] std::string make_writer(const std::string& payload_type) const;

  // A sink that runs as `name` does: its log and its port are told apart by it.
  [[nodiscard]] std::unique_ptr<Process> start(const std::string& name,
                                               const std::vector<std::string>& more = {}) const;
  // Its command line. What `more` names replaces what a sink here has by itself.
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& more) const;
  [[nodiscard]] std::string log_of(const std::string& name) const;
  // Waits until a sink has ended after SIGTERM.
  static int end(Process& sink);

  // Every partition is written up to its end.
  [[nodiscard]] bool is_caught_up();
  [[nodiscard]] std::int64_t lag_of_group() const;
  // Sum of the positions in the table.
  [[nodiscard]] std::int64_t written() const;
  // What should be in the table and is not, or the other way round; empty: blob by blob the same.
  [[nodiscard]] std::vector<std::string> differences() const;
  // Every row, and the transaction that wrote it.
  [[nodiscard]] std::vector<std::string> rows() const;

  [[nodiscard]] const std::string& topic() const { return topic_; }
  [[nodiscard]] std::string group() const { return topic_ + ".reseq-sink-postgres"; }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const kafka::Connection& connection() const { return connection_; }
  [[nodiscard]] const std::string& database() const { return database_; }

 private:
  struct Document {
    std::uint64_t version = 0;
    std::optional<std::string> payload;
  };

  // `payload`: of the document, absent where there is none.
  void remember(const std::string& id, std::uint64_t version, const std::optional<std::string>& payload);

  TempDir folder_;
  std::string topic_;
  std::string database_;
  std::string url_;
  kafka::Connection connection_;
  std::unique_ptr<kafka::Admin> admin_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  std::map<std::string, Document> documents_;
  std::mt19937_64 random_{17};
  std::uint64_t version_ = 1'000;
};

}  // namespace reseq::test
