// A sink that others have made, with the recipe of docs/stock-sinks.md word by word, behind a real resequencer: the
// table has to be the commit, blob by blob.
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "demo/compare/comparison.h"
#include "demo/compare/git_tree.h"
#include "demo/compare/sink_view.h"
#include "kafka/admin.h"
#include "kafka/librdkafka_cluster.h"
#include "tests/clients/fences.h"
#include "tests/e2e/patience.h"
#include "tests/postgres/server.h"
#include "tests/stock_sinks/connect_worker.h"
#include "tests/support/broker.h"
#include "tests/support/change_streams.h"
#include "tests/support/good.h"
#include "tests/support/process.h"

namespace reseq::test {
namespace {

constexpr Milliseconds kLimit{30'000};
constexpr int kRunLimitMs = 300'000;
constexpr std::int64_t kPartitions = 4;

// The fence of this language that follows the heading of the recipe.
std::string recipe(const std::string& label) {
  const std::string page = source_file("docs/stock-sinks.md");
  const std::size_t heading = page.find("## Kafka Connect: Debezium's JDBC sink (tested)");
  if (heading == std::string::npos) throw std::runtime_error("the page has no tested recipe");
  const std::vector<Fence> fences = fences_of(std::string_view(page).substr(heading));
  const auto found =
      std::find_if(fences.begin(), fences.end(), [&](const Fence& fence) { return fence.label == label; });
  if (found == fences.end()) throw std::runtime_error("the recipe has no " + label);
  return found->text;
}

// Outputs of a pipeline that scrambles the changes of a repository, left behind in Kafka.
class Outputs {
 public:
  explicit Outputs(const std::filesystem::path& bundle) {
    Process clone({"git", "clone", "-q", "--bare", bundle, repository()}, folder_.path() + "/git.log");
    if (clone.wait(kRunLimitMs) != 0) throw std::runtime_error("git clone: " + clone.tail());
    Process demo(
        {program("reseq-demo"), "--repo", repository(), "--bootstrap-servers", Broker::shared().bootstrap_servers(),
         "--application-id", application_, "--work-folder", folder_.path(), "--require-scramble"},
        folder_.path() + "/demo.log");
    if (demo.wait(kRunLimitMs) != 0) throw std::runtime_error("the demo: " + demo.tail());
    write("aborted", "1", "upsert", "nobody released it", false);
  }

  // What could not be done of a document, as the resequencer tells it (schemas/wire.md, "Markers").
  void mark(const std::string& id, const std::string& version) const { write(id, version, "failed", kNote, true); }
  static constexpr const char* kNote = R"({"reason":"failed","error":"not a PDF","attempts":3})";

  [[nodiscard]] std::string topic() const { return application_ + ".output.search"; }

  // How the rows of a table differ from the commit.
  [[nodiscard]] demo::Comparison compared(const std::string& server) const {
    const demo::GitTree tree = good(demo::read_tree(repository(), "HEAD"));
    const auto view = good(demo::view_table(server, "documents"));
    return good(demo::compare(*view, repository(), tree, folder_.path()));
  }

 private:
  // Not committed, as of a resequencer that was killed: a record that no reader of committed ones sees.
  void write(const std::string& id, const std::string& version, const std::string& op, const std::string& payload,
             bool committed) const {
    kafka::ClusterSettings settings;
    settings.connection.bootstrap_servers = Broker::shared().bootstrap_servers();
    settings.topics = {topic()};
    settings.group_id = settings.transactional_id = application_ + ".written";
    const auto cluster = good(kafka::open_cluster(settings));
    const auto producer = good(cluster->producer());
    good(producer->init(kLimit));
    good(producer->begin());
    const std::vector<Header> headers = {
        {"reseq-seq", "1"}, {"reseq-target", "search"}, {"reseq-op", op}, {"reseq-version", version}};
    good(producer->produce({.topic = kafka::TopicIndex(0), .key = id, .payload = payload, .headers = headers}));
    good(producer->flush(kLimit));
    good(committed ? producer->commit(kLimit) : producer->abort(kLimit));
  }
  [[nodiscard]] std::string repository() const { return folder_.path() + "/repository.git"; }

  TempDir folder_;
  std::string application_ = unique_name("stock");
};

class StockSink : public ::testing::Test {
 protected:
  // The recipe, told where everything is. `name` is that of its group, too.
  [[nodiscard]] std::string connector(const std::string& name, const std::string& topic) const {
    std::string lines = recipe("properties");
    lines = replaced(lines, "name=search", "name=" + name);
    lines = replaced(lines, "shop.output.search", topic);
    lines = replaced(lines, "jdbc:postgresql://127.0.0.1:5432/shop",
                     "jdbc:postgresql://" + url_.substr(url_.find('@') + 1));
    lines = replaced(lines, "connection.username=writer", "connection.username=owner");
    return lines + "consumer.override.max.poll.records=20\nconsumer.override.session.timeout.ms=6000\n";
  }

  // Every record that the group reads was written; markers of transactions are no records, and it may stand before one,
  // and before the record that was aborted and its marker.
  bool is_caught_up(const std::string& name, const std::string& topic) {
    const auto lag = admin_->lag("connect-" + name, topic, kLimit);
    return lag.ok() && lag.value() <= kPartitions + 2;
  }

  [[nodiscard]] std::int64_t rows() const { return std::stoll(session_->cell("SELECT count(*)::text FROM documents")); }
  // Every row with the transaction that wrote it.
  [[nodiscard]] std::vector<std::string> writes() const {
    return session_->list("SELECT concat_ws(' ', id, version, xmin) FROM documents ORDER BY id");
  }

  std::string url_ = PostgresServer::shared().make_database(unique_name("stock"));
  std::unique_ptr<Session> session_ = std::make_unique<Session>(url_);
  std::unique_ptr<kafka::Admin> admin_ =
      good(kafka::Admin::open({.bootstrap_servers = Broker::shared().bootstrap_servers()}));
};

TEST_F(StockSink, OfKafkaConnectHoldsTheCommitAfterAKillAndAReplay) {
  RESEQ_CHANGE_STREAM(bundle, "rustsec-advisory-db.bundle");
  ::setenv("SHOP_PASSWORD", "unused", 1);
  const std::string& servers = Broker::shared().bootstrap_servers();
  const Outputs outputs(bundle);
  session_->script(recipe("sql"));

  ConnectWorker worker(servers, connector("search", outputs.topic()));
  worker.start();
  ASSERT_TRUE(wait_until(kPatience, [&] { return !worker.running() || rows() >= 100; })) << worker.log();
  ASSERT_TRUE(worker.running()) << worker.log();
  worker.kill();
  EXPECT_LT(rows(), 733) << "it was done before it was killed: nothing is shown";
  worker.start();
  ASSERT_TRUE(wait_until(kPatience, [&] { return is_caught_up("search", outputs.topic()); })) << worker.log();
  EXPECT_TRUE(wait_until(kPatience, [&] { return outputs.compared(url_).right(); }))
      << ::testing::PrintToString(outputs.compared(url_).examples) << worker.log();
  worker.stop();

  const std::vector<std::string> before = writes();
  ConnectWorker replay(servers, connector("replay", outputs.topic()));
  replay.start();
  EXPECT_TRUE(wait_until(kPatience, [&] { return is_caught_up("replay", outputs.topic()); })) << replay.log();
  EXPECT_EQ(writes(), before) << "a replay wrote rows again";

  // It knows no markers: it stores the note at its version, and deletes nothing.
  const std::string id = session_->cell("SELECT id FROM documents_live ORDER BY id LIMIT 1");
  outputs.mark(id, session_->cell("SELECT (max(version) + 1)::text FROM documents"));
  EXPECT_TRUE(wait_until(kPatience, [&] {
    return session_->cell("SELECT convert_from(payload, 'UTF8') FROM documents_live ORDER BY id LIMIT 1") ==
           Outputs::kNote;
  })) << replay.log();
  EXPECT_EQ(session_->cell("SELECT id FROM documents_live ORDER BY id LIMIT 1"), id);
  replay.stop();
}

}  // namespace
}  // namespace reseq::test
