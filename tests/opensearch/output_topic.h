// OutputTopic: an output topic without a resequencer, with its dead letters, and instances of the sink that read it.
// What is written to it is remembered, to be compared with the index.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kafka/admin.h"
#include "kafka/plain_producer.h"
#include "tests/opensearch/search_server.h"
#include "tests/support/process.h"

namespace reseq::test {

class OutputTopic {
 public:
  OutputTopic(const std::string& what, SearchServer& server, kafka::Properties configs = {});

  // Releases of random documents among `documents`, a tenth of them deletes. Many come again later with the version
  // that they had, behind newer ones of the same document.
  void release(int count, int documents);
  void write(const std::string& id, std::uint64_t version, const std::optional<std::string>& payload);
  // A marker in place of the document; `error`: what was said, if anybody did.
  void fail(const std::string& id, std::uint64_t version, const std::optional<std::string>& error);
  // As write(), of what no index will hold. Version 0: without one.
  void write_poison(const std::string& id, std::uint64_t version, const std::string& payload);
  void flush();

  // An instance of the sink; its log is told apart by `name`.
  [[nodiscard]] std::unique_ptr<Process> start(const std::string& name,
                                               const std::vector<std::string>& more = {}) const;
  [[nodiscard]] std::string log_of(const std::string& name) const;
  // Exit code, after SIGTERM or by itself.
  static int end(Process& sink);
  static int wait(Process& sink);

  [[nodiscard]] std::string group() const { return topic_ + ".reseq-sink-opensearch"; }
  // Records that the group has not read; nothing while it has no coordinator.
  [[nodiscard]] std::optional<std::int64_t> lag(const std::string& group) const;
  // Waits until the group has read everything; what is wrong when that takes too long, or "".
  [[nodiscard]] std::string wait_until_read(const std::string& group) const;

  // What should be seen by the alias and is not, or the other way round; empty: document by document the same.
  [[nodiscard]] std::vector<std::string> differences() const;
  // Everything in the index, tombstones and versions too.
  [[nodiscard]] std::map<std::string, nlohmann::json> stored() const { return server_.documents(index_ + "-v1"); }
  // How many there are.
  [[nodiscard]] std::size_t dead_letters() const;

  [[nodiscard]] const std::string& topic() const { return topic_; }
  [[nodiscard]] const kafka::Connection& connection() const { return connection_; }
  [[nodiscard]] const std::string& index() const { return index_; }

 private:
  void send(const std::string& id, std::uint64_t version, const std::optional<std::string>& payload);

  struct Document {
    std::uint64_t version = 0;
    std::optional<std::string> payload;
  };

  TempDir folder_;
  SearchServer& server_;
  std::string topic_;
  std::string index_;
  kafka::Connection connection_;
  std::unique_ptr<kafka::Admin> admin_;
  std::unique_ptr<kafka::PlainProducer> producer_;
  std::map<std::string, Document> documents_;
  std::mt19937_64 random_{25};
  std::uint64_t version_ = 1'000;
};

}  // namespace reseq::test
