// Documents that failed, in a real PostgreSQL: what is not indexed, and why, is one query; whoever reads documents sees
// none of it; and a table of an older version gets the column.
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

#include "consumers/postgres/postgres_store.h"
#include "tests/e2e/outputs.h"
#include "tests/e2e/patience.h"
#include "tests/postgres/scene.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"
#include "tests/support/log_lines.h"
#include "tests/support/source_path.h"

namespace reseq::test {
namespace {

using postgres::PostgresStore;
using postgres::StoreSettings;
using remote::Answer;
using remote::Batch;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Kind = Answer::Kind;
using Kinds = std::vector<Kind>;

constexpr std::string_view kNote = R"({"reason":"failed","attempts":3,"failed_at":"2026-11-29T15:12:05.123Z"})";
// As docs/failures.md has it.
const std::string kNotIndexed = "SELECT id, error FROM documents WHERE error IS NOT NULL";

// A table as versions before markers made it.
constexpr const char* kOlderTable =
    "CREATE TABLE documents (id text PRIMARY KEY, version bigint NOT NULL, deleted boolean NOT NULL, payload jsonb); "
    "CREATE VIEW documents_live AS SELECT id, version, payload FROM documents WHERE NOT deleted; "
    "CREATE TABLE documents_positions (topic text, partition integer, next bigint NOT NULL, "
    "PRIMARY KEY (topic, partition)); "
    "INSERT INTO documents VALUES ('a', 1, false, '{\"n\":1}')";

struct Said {
  std::string id;
  std::uint64_t version = 0;
  sink::ChangeOp op = sink::ChangeOp::kUpsert;
  std::string text{};  // the payload; of a marker the error
};

Said marker(const std::string& id, std::uint64_t version, const std::string& error) {
  return {id, version, sink::ChangeOp::kFailed, error};
}
Said removal(const std::string& id, std::uint64_t version) {
  return {id, version, sink::ChangeOp::kDelete};
}

class PostgresMarkers : public testing::Test {
 protected:
  PostgresMarkers() {
    settings_.server.server = url_;
    settings_.topic = "shop.output.search";
    settings_.layout.positions = false;
  }

  void open() {
    store_ = std::make_unique<PostgresStore>(settings_);
    good(store_->prepare());
  }

  Kinds write(const std::vector<Said>& changes) {
    Batch batch{.partition = Partition(0), .first = Offset(0), .next = Offset(0), .writes = {}};
    for (const Said& one : changes) {
      sink::Change& change = batch.writes.emplace_back().change;
      change.id = one.id;
      change.version = Version(one.version);
      change.op = one.op;
      if (one.op == sink::ChangeOp::kUpsert) change.payload = one.text;
      if (one.op == sink::ChangeOp::kFailed) change.payload = kNote;
      if (one.op == sink::ChangeOp::kFailed) change.error = one.text;
    }
    std::vector<Answer> answers(changes.size());
    good(store_->write(batch, answers));
    Kinds kinds;
    for (const Answer& answer : answers) kinds.push_back(answer.kind);
    return kinds;
  }

  std::vector<std::string> failed() {
    return session_.list("SELECT id || ': ' || error FROM (" + kNotIndexed + ") AS failed ORDER BY id");
  }
  std::vector<std::string> live() {
    return session_.list("SELECT id || '=' || payload FROM documents_live ORDER BY id");
  }

  std::string url_ = PostgresServer::shared().make_database(unique_name("markers"));
  Session session_{url_};
  StoreSettings settings_;
  std::unique_ptr<PostgresStore> store_;
};

TEST_F(PostgresMarkers, TellWhatIsNotIndexedAndWhyAndAreNoDocuments) {
  open();
  (void)write({{.id = "a", .version = 1, .text = "1"}, {.id = "b", .version = 2, .text = "2"}});
  EXPECT_EQ(write({marker("a", 3, "not a PDF"), marker("never-there", 4, "locked")}),
            (Kinds{Kind::kStored, Kind::kStored}));
  EXPECT_THAT(failed(), ElementsAre("a: not a PDF", "never-there: locked"));
  EXPECT_THAT(live(), ElementsAre("b=2"));
  EXPECT_EQ(session_.cell("SELECT payload->>'reason' || ' ' || (payload->>'attempts') || ' ' || "
                          "(payload->>'failed_at')::timestamptz FROM documents WHERE id = 'a'"),
            session_.cell("SELECT 'failed 3 ' || '2026-11-29T15:12:05.123Z'::timestamptz"));
}

TEST_F(PostgresMarkers, AreReplacedByWhatIsNewerOnly) {
  open();
  EXPECT_EQ(write({marker("a", 5, "first")}), Kinds{Kind::kStored});
  EXPECT_EQ(write({{.id = "a", .version = 4, .text = "\"late\""}}), Kinds{Kind::kNotNewer});
  EXPECT_EQ(write({removal("a", 4)}), Kinds{Kind::kNotNewer});
  EXPECT_EQ(write({marker("a", 5, "again")}), Kinds{Kind::kNotNewer});
  EXPECT_THAT(failed(), ElementsAre("a: first"));
  EXPECT_EQ(write({marker("a", 6, "second")}), Kinds{Kind::kStored});
  EXPECT_THAT(failed(), ElementsAre("a: second"));
  EXPECT_EQ(write({{.id = "a", .version = 7, .text = "\"back\""}}), Kinds{Kind::kStored});
  EXPECT_THAT(failed(), IsEmpty());
  EXPECT_THAT(live(), ElementsAre("a=\"back\""));
  (void)write({marker("a", 8, "third")});
  EXPECT_EQ(write({removal("a", 9)}), Kinds{Kind::kStored});
  EXPECT_THAT(failed(), IsEmpty());
  EXPECT_EQ(session_.cell("SELECT version || ' ' || deleted || ' ' || coalesce(payload::text, 'null') FROM documents"),
            "9 true null");
  EXPECT_EQ(write({marker("a", 8, "late")}), Kinds{Kind::kNotNewer});
}

TEST_F(PostgresMarkers, AreStoredWhateverWasSaid) {
  open();
  const std::string nul("nul\0", 4);
  EXPECT_EQ(write({marker("bytes", 1, "\xff"), marker("nul", 2, nul), marker("quotes", 3, "it's \"{\\}\"\n")}),
            (Kinds{Kind::kStored, Kind::kStored, Kind::kStored}));
  EXPECT_THAT(failed(), ElementsAre("bytes: \xef\xbf\xbd", "nul: nul\xef\xbf\xbd", "quotes: it's \"{\\}\"\n"));
}

TEST_F(PostgresMarkers, FillNoColumnsOfAMapping) {
  settings_.layout.columns = {good(postgres::parse_column("title=/t")), good(postgres::parse_column("reason=/reason"))};
  open();
  (void)write({{.id = "a", .version = 1, .text = R"({"t":"Kettle","reason":"sold"})"}, marker("b", 2, "not a PDF")});
  EXPECT_THAT(session_.list("SELECT concat_ws('|', id, title, reason, error) FROM documents ORDER BY id"),
              ElementsAre("a|Kettle|sold", "b|not a PDF"));
  (void)write({marker("a", 3, "locked")});
  EXPECT_EQ(session_.cell("SELECT concat_ws('|', id, title, reason, error) FROM documents WHERE id = 'a'"), "a|locked");
}

TEST_F(PostgresMarkers, AreBytesOrAnErrorAloneWherePayloadsAre) {
  settings_.layout.payload = postgres::PayloadAs::kBytea;
  open();
  (void)write({marker("a", 1, "not a PDF")});
  EXPECT_EQ(session_.cell("SELECT convert_from(payload, 'UTF8')::jsonb->>'error' FROM documents"), "not a PDF");
  session_.script("DROP TABLE documents CASCADE");
  settings_.layout.payload = postgres::PayloadAs::kNone;
  open();
  (void)write({marker("a", 1, "not a PDF")});
  EXPECT_THAT(failed(), ElementsAre("a: not a PDF"));
}

TEST_F(PostgresMarkers, AreNotForgottenWithOldDeletes) {
  settings_.forget_deletes_days = 30;
  open();
  (void)write({removal("deleted", 1), marker("failed", 2, "not a PDF")});
  good(store_->tend());
  EXPECT_THAT(session_.list("SELECT id FROM documents"), ElementsAre("failed"));
}

TEST_F(PostgresMarkers, GetTheirColumnInATableOfAnOlderVersion) {
  session_.script(kOlderTable);
  const LogLines log;
  for (int start = 0; start < 2; ++start) open();
  EXPECT_THAT(log.text(), Not(HasSubstr("column error")));
  (void)write({{.id = "b", .version = 2, .text = "2"}, marker("a", 3, "not a PDF")});
  EXPECT_THAT(failed(), ElementsAre("a: not a PDF"));
  EXPECT_THAT(live(), ElementsAre("b=2")) << "by the view that was there";
}

// A role that may write and nothing else, as docs/sinks.md lists its rights.
TEST_F(PostgresMarkers, AreStoredWithoutTheirColumnWhereNobodyMayAddIt) {
  session_.script(kOlderTable);
  const std::string role = unique_name("writer");
  session_.script("CREATE ROLE \"" + role + "\" LOGIN; GRANT SELECT, INSERT, UPDATE ON documents TO \"" + role + "\"");
  settings_.server.server = PostgresServer::shared().url(session_.cell("SELECT current_database()::text"), role);
  const LogLines log;
  open();
  EXPECT_THAT(log.text(), HasSubstr("table=documents it has no column error: why a document failed stands only in the "
                                    "payload of its row. It was not added ("));
  EXPECT_THAT(log.text(), HasSubstr("Run: ALTER TABLE \"documents\" ADD COLUMN IF NOT EXISTS error text;"));
  const auto to_know = [&] {
    std::string told;
    for (const remote::Finding& finding : store_->check()) told += finding.good ? finding.what + "\n" : "bad";
    return told;
  };
  EXPECT_THAT(to_know(), HasSubstr("to know: of table documents, it has no column error"));
  (void)write({marker("a", 3, "not a PDF"), {.id = "b", .version = 4, .text = "2"}});
  EXPECT_EQ(session_.cell("SELECT payload->>'error' FROM documents WHERE deleted AND payload IS NOT NULL"),
            "not a PDF");
  EXPECT_THAT(live(), ElementsAre("b=2"));
  // Whoever may runs it; the next session knows.
  session_.script("ALTER TABLE documents ADD COLUMN IF NOT EXISTS error text");
  open();
  (void)write({marker("a", 5, "locked")});
  EXPECT_THAT(failed(), ElementsAre("a: locked"));
  EXPECT_THAT(to_know(), Not(HasSubstr("column error")));
}

TEST_F(PostgresMarkers, LeaveAColumnOfErrorsAloneThatIsNotTheirs) {
  settings_.layout.columns = {good(postgres::parse_column("error=/e"))};
  {
    const LogLines log;
    open();
    EXPECT_THAT(log.text(), Not(HasSubstr("column error"))) << "who makes the table knows";
  }
  const LogLines log;
  open();
  EXPECT_THAT(log.text(), HasSubstr("--column fills its column error"));
  (void)write({{.id = "a", .version = 1, .text = R"({"e":"of the document"})"}, marker("b", 2, "not a PDF")});
  EXPECT_EQ(session_.cell("SELECT error FROM documents WHERE id = 'a'"), "of the document");
  EXPECT_EQ(session_.cell("SELECT payload->>'error' FROM documents WHERE id = 'b' AND error IS NULL"), "not a PDF");
  session_.script("DROP TABLE documents CASCADE");
  settings_.layout.columns.clear();
  session_.script(
      "CREATE TABLE documents (id text PRIMARY KEY, version bigint, deleted boolean, payload jsonb, error integer)");
  open();
  EXPECT_THAT(log.text(), HasSubstr("its column error is of type integer, not text"));
  (void)write({marker("b", 2, "not a PDF")});
}

// The program, with records as they stand in the topic.
TEST(PostgresSink, StoresMarkersOfATopicAndForgetsThemWithWhatIsNewer) {
  Scene scene("failed");
  scene.write("a", 1, "{\"n\":1}");
  scene.fail("a", 2, "not a PDF");
  scene.fail("b", 3, "locked");
  scene.fail("c", 4, "locked");
  scene.fail("d", 5, std::nullopt);
  scene.write("b", 6, "{\"n\":6}");
  scene.write("c", 7, std::nullopt);
  scene.write("a", 1, "{\"n\":1}");
  scene.fail("b", 3, "locked");
  scene.flush();
  const std::vector<std::string> small = {"--batch-records", "1"};
  const auto sink = scene.start("sink", small);
  ASSERT_TRUE(wait_until(kPatience, [&] { return scene.is_caught_up(); })) << sink->tail();
  EXPECT_EQ(Scene::end(*sink), 0) << sink->tail();
  Session session(scene.url());
  EXPECT_THAT(session.list("SELECT id || ': ' || error FROM (" + kNotIndexed + ") AS failed ORDER BY id"),
              ElementsAre("a: not a PDF", "d: failed"));
  EXPECT_THAT(session.list("SELECT id || ' ' || payload FROM documents_live"), ElementsAre("b {\"n\": 6}"));
  EXPECT_THAT(read_sink_letters(scene.connection(), scene.topic()), IsEmpty());
}

TEST(PostgresSink, IsAskedForWhatIsNotIndexedAsTheDocumentationSays) {
  std::ifstream file(source_path("docs/failures.md"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(text, HasSubstr(kNotIndexed));
}

}  // namespace
}  // namespace reseq::test
