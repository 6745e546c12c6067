// Documents that failed, as the sinks without a server keep them: the programs on a real topic, and what is not
// indexed, and why, asked as docs/failures.md does.
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <string>

#include "consumers/sqlite/database.h"
#include "kafka/admin.h"
#include "kafka/plain_producer.h"
#include "tests/e2e/patience.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"
#include "tests/support/process.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using testing::HasSubstr;

constexpr Milliseconds kMarkersLimit{30'000};

class SinkMarkers : public testing::Test {
 protected:
  SinkMarkers() {
    kafka::Connection connection;
    connection.bootstrap_servers = Broker::shared().bootstrap_servers();
    const std::vector<kafka::TopicSpec> topics = {{.name = topic_, .partitions = 1}};
    good(good(kafka::Admin::open(connection))->create_topics(topics, kMarkersLimit));
    producer_ = good(kafka::PlainProducer::open(connection));
    write("a", "1", "upsert", "a document");
    fail("a", "2", "not a PDF");
    fail("back", "3", "locked");
    fail("deleted", "4", "locked");
    fail("nobody-said", "5", std::nullopt);
    write("back", "6", "upsert", "text");
    write("deleted", "7", "delete", std::nullopt);
    write("a", "1", "upsert", "a document");
    fail("back", "3", "locked");
    good(producer_->flush(kMarkersLimit));
  }

  void write(const std::string& id, const std::string& version, const std::string& op,
             const std::optional<std::string>& payload, const std::optional<std::string>& error = std::nullopt) {
    std::vector<Header> headers = {{"reseq-seq", "1"}, {"reseq-version", version}, {"reseq-op", op}};
    if (error) headers.push_back({"reseq-error", *error});
    good(producer_->send(topic_, id, payload, headers));
  }
  void fail(const std::string& id, const std::string& version, const std::optional<std::string>& error) {
    write(id, version, "failed", R"({"reason":"timed_out","attempts":3})", error);
  }

  // What a line of the shell prints. Programs are found beside the test program.
  std::string printed(const std::string& line) {
    const std::string programs = program("x").substr(0, program("x").size() - 2);
    Process shell({"bash", "-c", "set -o pipefail; PATH=" + programs + ":$PATH; { " + line + "; } >" + path("stdout")},
                  path("log"));
    EXPECT_EQ(shell.wait(60'000), 0) << line << "\n" << shell.tail();
    return content_of(path("stdout"));
  }
  // Follows the topic to its end and ends in order.
  void run(const std::string& name, const std::vector<std::string>& more) {
    std::vector<std::string> argv = {
        program(name),     "--bootstrap-servers", Broker::shared().bootstrap_servers(), "--topic", topic_,
        "--progress-file", path("progress")};
    argv.insert(argv.end(), more.begin(), more.end());
    Process sink(argv, path(name + ".log"));
    EXPECT_TRUE(wait_until(kPatience, [&] {
      return content_of(path("progress")).find("\"records\":9") != std::string::npos;
    })) << sink.tail();
    sink.signal(SIGTERM);
    EXPECT_EQ(sink.wait(60'000), 0) << sink.tail();
  }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  static std::string content_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempDir folder_;
  std::string topic_ = unique_name("failed") + ".output.search";
  std::unique_ptr<kafka::PlainProducer> producer_;
};

TEST_F(SinkMarkers, AreFoundByTheQueryInSqlite) {
  run("reseq-sink-sqlite", {"--database", path("search.db")});
  const std::string query = "SELECT id, error FROM documents WHERE error IS NOT NULL";
  EXPECT_THAT(content_of(source_path("docs/failures.md")), HasSubstr("```sql\n" + query + "\n```"));
  auto database = good(sqlite::Database::open(path("search.db"), sqlite::Database::Mode::kReadOnly));
  auto statement = good(database.prepare(query + " ORDER BY id"));
  std::string rows;
  while (good(statement.step()))
    rows += std::string(statement.bytes(0).value_or("-")) + ": " + std::string(statement.bytes(1).value_or("-")) + "\n";
  EXPECT_EQ(rows, "a: not a PDF\nnobody-said: timed_out\n");
}

TEST_F(SinkMarkers, AreListedByTheSinkOfFiles) {
  run("reseq-sink-files", {"--directory", path("catalogue")});
  const std::string list = "reseq-sink-files list --directory " + path("catalogue");
  EXPECT_THAT(content_of(source_path("docs/failures.md")), HasSubstr("reseq-sink-files list --directory DIR --failed"));
  EXPECT_EQ(printed(list + " --failed | jq -c '[.id, .error]'"),
            "[\"a\",\"not a PDF\"]\n[\"nobody-said\",\"timed_out\"]\n");
  EXPECT_EQ(printed("jq -c . " + path("catalogue") + "/$(" + list + " --failed --id a | jq -r .file)"),
            "{\"reason\":\"timed_out\",\"error\":\"not a PDF\",\"attempts\":3}\n");
  EXPECT_EQ(printed(list + " | jq -r .id"), "back\n");
  EXPECT_EQ(printed("find " + path("catalogue") + "/documents -type f | wc -l"), "1\n");
}

TEST_F(SinkMarkers, AreLinesThatSayFailed) {
  const std::string filter = "select(.op == \"failed\")";
  EXPECT_THAT(content_of(source_path("docs/failures.md")), HasSubstr(filter + " \\| {id, error}"));
  EXPECT_EQ(printed("reseq-sink-ndjson --bootstrap-servers " + Broker::shared().bootstrap_servers() + " --topic " +
                    topic_ + " --until-end | jq -c '" + filter + " | {id, error}' | sort -u"),
            "{\"id\":\"a\",\"error\":\"not a PDF\"}\n{\"id\":\"back\",\"error\":\"locked\"}\n"
            "{\"id\":\"deleted\",\"error\":\"locked\"}\n{\"id\":\"nobody-said\",\"error\":null}\n");
}

}  // namespace
}  // namespace reseq::test
