#include <gtest/gtest.h>

#include "gates.h"

namespace reseq::tidy {
namespace {

// A file that includes one header of ours.
Violations including(const std::string& path, const std::string& header) {
  return check_includes(SourceTree({{path, "#include \"" + header + "\"\n"},
                                    {"resequencer/base/result.h", ""},
                                    {"resequencer/model/ids.h", ""},
                                    {"resequencer/model/row.h", ""},
                                    {"resequencer/engine/batch.h", ""},
                                    {"resequencer/engine/state_view.h", ""},
                                    {"resequencer/codec/wire.h", ""},
                                    {"resequencer/kafka/cluster.h", ""},
                                    {"resequencer/http/server.h", ""},
                                    {"resequencer/runtime/worker/transaction.h", ""},
                                    {"resequencer/runtime/worker/worker.h", ""},
                                    {"resequencer/cli/command_line.h", ""},
                                    {"producers/git/walk.h", ""},
                                    {"producers/ndjson/line_members.h", ""},
                                    {"demo/show.h", ""},
                                    {"tests/support/broker.h", ""}}));
}

TEST(IncludeRule, HoldsInTheTree) {
  EXPECT_EQ(to_text(check_includes(SourceTree::of_this_project())), "");
}

TEST(IncludeRule, AllowsTheFoldersOfTheTable) {
  EXPECT_EQ(to_text(including("resequencer/engine/a.cpp", "model/row.h")), "");
  EXPECT_EQ(to_text(including("resequencer/engine/a.cpp", "engine/batch.h")), "");
  EXPECT_EQ(to_text(including("resequencer/runtime/worker/a.cpp", "kafka/cluster.h")), "");
  EXPECT_EQ(to_text(including("resequencer/main.cpp", "cli/command_line.h")), "");
  EXPECT_EQ(to_text(including("demo/a.cpp", "producers/git/walk.h")), "");
  EXPECT_EQ(to_text(including("consumers/lines/a.cpp", "producers/ndjson/line_members.h")), "");
  EXPECT_EQ(to_text(including("consumers/remote/a.cpp", "http/server.h")), "");
  EXPECT_EQ(to_text(including("tests/unit/engine/a.cpp", "kafka/cluster.h")), "");
}

TEST(IncludeRule, ReportsEngineThatKnowsKafka) {
  EXPECT_EQ(to_text(including("resequencer/engine/a.cpp", "kafka/cluster.h")),
            "resequencer/engine/a.cpp:1: resequencer/engine must not include resequencer/kafka/cluster.h\n");
}

TEST(IncludeRule, ReportsEveryDirectionThatIsNotInTheTable) {
  EXPECT_EQ(including("resequencer/base/a.h", "model/ids.h").size(), 1U);
  EXPECT_EQ(including("resequencer/model/a.h", "codec/wire.h").size(), 1U);
  EXPECT_EQ(including("resequencer/codec/a.h", "engine/batch.h").size(), 1U);
  EXPECT_EQ(including("resequencer/config/a.h", "model/ids.h").size(), 1U);
  EXPECT_EQ(including("resequencer/main.cpp", "runtime/worker/worker.h").size(), 1U);
  EXPECT_EQ(including("producers/git/a.cpp", "runtime/worker/worker.h").size(), 1U);
  EXPECT_EQ(including("producers/git/a.cpp", "demo/show.h").size(), 1U);
  EXPECT_EQ(including("consumers/stage/a.cpp", "producers/git/walk.h").size(), 1U);
  EXPECT_EQ(including("consumers/sink/a.cpp", "http/server.h").size(), 1U);
  EXPECT_EQ(including("consumers/remote/a.cpp", "runtime/worker/worker.h").size(), 1U);
  EXPECT_EQ(including("demo/a.cpp", "runtime/worker/worker.h").size(), 1U);
  EXPECT_EQ(including("resequencer/runtime/application/a.cpp", "runtime/worker/worker.h").size(), 1U);
  EXPECT_EQ(including("resequencer/runtime/takeover/a.cpp", "runtime/worker/worker.h").size(), 1U);
  EXPECT_EQ(including("resequencer/observe/a.cpp", "runtime/worker/worker.h").size(), 1U);
  EXPECT_EQ(including("demo/a.cpp", "tests/support/broker.h").size(), 1U);
}

TEST(IncludeRule, OpensSomeFoldersForSingleFilesOnly) {
  EXPECT_EQ(to_text(including("resequencer/store/a.cpp", "engine/state_view.h")), "");
  EXPECT_EQ(including("resequencer/store/a.cpp", "engine/batch.h").size(), 1U);
  EXPECT_EQ(to_text(including("resequencer/kafka/a.cpp", "model/ids.h")), "");
  EXPECT_EQ(including("resequencer/kafka/a.cpp", "model/row.h").size(), 1U);
  EXPECT_EQ(to_text(including("resequencer/runtime/desk/a.cpp", "runtime/worker/worker.h")), "");
  EXPECT_EQ(including("resequencer/runtime/desk/a.cpp", "runtime/worker/transaction.h").size(), 1U);
}

TEST(IncludeRule, ReportsAFolderWithoutARow) {
  EXPECT_EQ(including("resequencer/extra/a.cpp", "model/row.h").size(), 1U);
}

TEST(IncludeRule, ReportsAFileThatIsNotThere) {
  EXPECT_EQ(including("resequencer/engine/a.cpp", "model/gone.h").size(), 1U);
}

TEST(IncludeRule, KeepsLibrariesInTheirFolders) {
  const auto with = [](const std::string& path, const std::string& header) {
    return check_includes(SourceTree({{path, "#  include <" + header + ">\n"}})).size();
  };
  EXPECT_EQ(with("resequencer/store/a.cpp", "lmdb.h"), 0U);
  EXPECT_EQ(with("resequencer/kafka/a.cpp", "librdkafka/rdkafka.h"), 0U);
  EXPECT_EQ(with("resequencer/changelog/a.cpp", "lmdb.h"), 1U);
  EXPECT_EQ(with("resequencer/runtime/a.cpp", "librdkafka/rdkafka.h"), 1U);
  EXPECT_EQ(with("consumers/stage/a.cpp", "librdkafka/rdkafka.h"), 1U);
  EXPECT_EQ(with("consumers/postgres/a.cpp", "libpq-fe.h"), 0U);
  EXPECT_EQ(with("consumers/remote/a.cpp", "libpq-fe.h"), 1U);
}

}  // namespace
}  // namespace reseq::tidy
