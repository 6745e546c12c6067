// The store on a real PostgreSQL: versions, deletes, positions, rows that are refused, and what a table must have.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "consumers/postgres/postgres_store.h"
#include "tests/e2e/patience.h"
#include "tests/postgres/server.h"
#include "tests/support/broker.h"
#include "tests/support/good.h"
#include "tests/support/silent_port.h"

namespace reseq::test {
namespace {

using postgres::PostgresStore;
using postgres::StoreSettings;
using remote::Answer;
using remote::Batch;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr Answer::Kind kStored = Answer::Kind::kStored;
constexpr Answer::Kind kNotNewer = Answer::Kind::kNotNewer;
constexpr Answer::Kind kRefused = Answer::Kind::kRefused;
constexpr Answer::Kind kHeldBack = Answer::Kind::kHeldBack;

struct Document {
  std::string id;
  std::uint64_t version = 0;
  std::optional<std::string> payload;  // absent: a delete
};

class PostgresStoreTest : public testing::Test {
 protected:
  PostgresStoreTest()
      : database_(unique_name("store")), url_(PostgresServer::shared().make_database(database_)), session_(url_) {
    settings_.server.server = url_;
    settings_.topic = "shop.output.search";
  }

  void open() {
    store_ = std::make_unique<PostgresStore>(settings_);
    good(store_->prepare());
    if (settings_.layout.positions) good(store_->begin_at(Partition(0), std::nullopt, Offset(0)));
  }

  Result<> write(std::int64_t first, const std::vector<Document>& documents) {
    Batch batch{.partition = Partition(0),
                .first = Offset(first),
                .next = Offset(first + static_cast<std::int64_t>(documents.size())),
                .writes = {}};
    for (const Document& document : documents) {
      remote::Write& one = batch.writes.emplace_back();
      one.change.id = document.id;
      one.change.version = Version(document.version);
      one.change.op = document.payload ? sink::ChangeOp::kUpsert : sink::ChangeOp::kDelete;
      if (document.payload) one.change.payload = *document.payload;
    }
    answers_.assign(documents.size(), Answer{});
    return store_->write(batch, answers_);
  }

  [[nodiscard]] std::vector<Answer::Kind> kinds() const {
    std::vector<Answer::Kind> kinds;
    for (const Answer& answer : answers_) kinds.push_back(answer.kind);
    return kinds;
  }

  // What a reader of the view sees, and the whole table, where each row was written.
  std::vector<std::string> live() {
    return session_.list("SELECT id || '=' || payload FROM documents_live ORDER BY id");
  }
  std::vector<std::string> all() {
    return session_.list("SELECT concat_ws(' ', id, version, deleted, payload, xmin) FROM documents ORDER BY id");
  }
  // Every row that is inserted takes so many seconds.
  void slow_down(const std::string& seconds) {
    session_.script(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(" + seconds +
        "); RETURN NEW; END $$; CREATE TRIGGER slow BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION slow()");
  }
  std::string position() { return session_.cell("SELECT next::text FROM documents_positions"); }

  std::string database_;
  std::string url_;
  Session session_;
  StoreSettings settings_;
  std::unique_ptr<PostgresStore> store_;
  std::vector<Answer> answers_;
};

TEST_F(PostgresStoreTest, WritesWhatIsNewerAndMovesThePosition) {
  open();
  good(write(0, {{"a", 10, "1"}, {"b", 11, "2"}}));
  EXPECT_THAT(kinds(), ElementsAre(kStored, kStored));
  good(write(2, {{"a", 9, "\"old\""}, {"b", 12, "\"new\""}, {"c", 11, "3"}}));
  EXPECT_THAT(kinds(), ElementsAre(kNotNewer, kStored, kStored));
  EXPECT_THAT(live(), ElementsAre("a=1", "b=\"new\"", "c=3"));
  EXPECT_EQ(position(), "5");
}

TEST_F(PostgresStoreTest, KeepsADeleteWithItsVersion) {
  open();
  good(write(0, {{"a", 10, "1"}}));
  good(write(1, {{"a", 20, std::nullopt}}));
  good(write(2, {{"a", 15, "\"late\""}}));
  EXPECT_THAT(kinds(), ElementsAre(kNotNewer));
  EXPECT_THAT(live(), ElementsAre());
  EXPECT_EQ(session_.cell("SELECT version || ' ' || deleted || ' ' || coalesce(payload::text, 'null') FROM documents"),
            "20 true null");
  good(write(3, {{"a", 21, "\"back\""}}));
  EXPECT_THAT(live(), ElementsAre("a=\"back\""));
}

// Also alone: nothing stands behind it then that goes well.
TEST_F(PostgresStoreTest, RefusesOnlyTheRowForWhichATriggerRaisesAnError) {
  open();
  // One that the trigger makes up, and what PL/Python, PL/Perl and PL/Tcl have for each error that is raised in them.
  for (const std::string state : {"U0042", "38000"}) {
    session_.script(
        "CREATE OR REPLACE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id LIKE 'bad%' THEN "
        "RAISE 'not for us' USING ERRCODE = '" +
        state +
        "'; END IF; RETURN NEW; END $$; "
        "DROP TRIGGER IF EXISTS judge ON documents; "
        "CREATE TRIGGER judge BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION judge()");
    const Result<> among = write(0, {{"a", 10, "1"}, {"bad", 11, "2"}, {"c", 12, "3"}});
    ASSERT_TRUE(among) << among.error().message;
    EXPECT_THAT(kinds(), ElementsAre(kHeldBack, kRefused, kHeldBack)) << state;
    EXPECT_THAT(answers_[1].words, HasSubstr("not for us"));
    const Result<> alone = write(0, {{"bad-alone", 13, "2"}});
    ASSERT_TRUE(alone) << alone.error().message;
    EXPECT_THAT(kinds(), ElementsAre(kRefused)) << state;
  }
}

TEST_F(PostgresStoreTest, ChangesNothingWhenThePositionIsAnother) {
  open();
  good(write(0, {{"a", 10, "1"}}));
  good(write(1, {{"a", 11, "2"}}));
  const auto before = all();
  const Result<> zombie = write(0, {{"a", 99, "\"zombie\""}});
  ASSERT_FALSE(zombie);
  EXPECT_EQ(zombie.error().what_to_do, ErrorClass::kFenced);
  EXPECT_EQ(zombie.error().message, "the position of partition 0 is 2, not 0");
  EXPECT_EQ(all(), before);
  EXPECT_EQ(position(), "2");
}

TEST_F(PostgresStoreTest, KnowsABatchWhoseAnswerWasLost) {
  settings_.server.answer_limit = std::chrono::milliseconds(1'000);
  open();
  slow_down("2");
  const Result<> lost = write(0, {{"a", 10, "1"}});
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().what_to_do, ErrorClass::kTimeout);
  ASSERT_TRUE(wait_until(kPatience, [&] { return position() == "1"; }));
  session_.script("DROP TRIGGER slow ON documents");
  const auto before = all();
  good(write(0, {{"a", 10, "1"}}));
  EXPECT_THAT(kinds(), ElementsAre(kStored));
  EXPECT_EQ(all(), before);
}

TEST_F(PostgresStoreTest, IsFencedWhereSomebodyElseHasWrittenTheSameBatch) {
  open();
  auto heir = std::make_unique<PostgresStore>(settings_);
  store_.swap(heir);
  good(write(0, {{"a", 10, "1"}}));
  store_.swap(heir);
  const Result<> zombie = write(0, {{"a", 10, "1"}});
  ASSERT_FALSE(zombie) << "it would count as written what it did not write";
  EXPECT_EQ(zombie.error().what_to_do, ErrorClass::kFenced);
}

TEST_F(PostgresStoreTest, RefusesARowInTheServersWordsAndHoldsItsNeighboursBack) {
  open();
  std::vector<Document> documents;
  for (std::uint64_t i = 0; i < 50; ++i) documents.push_back({"id-" + std::to_string(i), i + 1, "1"});
  documents[17].payload = "{not json";
  documents[40].id = "not\xffutf8";
  good(write(0, documents));
  for (std::size_t i = 0; i < documents.size(); ++i)
    EXPECT_EQ(answers_[i].kind, i == 17 || i == 40 ? kRefused : kHeldBack) << i;
  EXPECT_THAT(answers_[17].words, HasSubstr("invalid input syntax for type json"));
  EXPECT_THAT(answers_[17].words, HasSubstr("22P02"));
  EXPECT_THAT(answers_[40].words, HasSubstr("invalid byte sequence for encoding \"UTF8\""));
  EXPECT_EQ(session_.cell("SELECT count(*)::text FROM documents"), "0") << "nothing before the letters are written";
  EXPECT_EQ(position(), "0");
}

TEST_F(PostgresStoreTest, RefusesJsonThatIsNestedTooDeepForTheServer) {
  open();
  good(write(0, {{"deep", 1, std::string(100'000, '[') + std::string(100'000, ']')}, {"b", 2, "2"}}));
  EXPECT_THAT(kinds(), ElementsAre(kRefused, kHeldBack));
  EXPECT_THAT(answers_[0].words, HasSubstr("stack depth limit exceeded"));
}

TEST_F(PostgresStoreTest, RefusesAnIdThatTheIndexCannotHold) {
  settings_.layout.positions = false;
  open();
  // Not compressible: what an index holds at most is 2704 bytes after compression.
  std::string id;
  std::uint64_t random = 1;
  for (int i = 0; i < 4'000; ++i) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    id.push_back(static_cast<char>('!' + (random >> 33) % 90));
  }
  good(write(0, {{id, 1, "1"}, {"b", 2, "2"}}));
  EXPECT_THAT(kinds(), ElementsAre(kRefused, kHeldBack));
  EXPECT_THAT(answers_[0].words, HasSubstr("exceeds btree version 4 maximum"));
}

TEST_F(PostgresStoreTest, TakesAnyBytesWhenItIsToldTo) {
  settings_.layout.id = postgres::IdAs::kBytea;
  settings_.layout.payload = postgres::PayloadAs::kBytea;
  open();
  const std::string id("\0\xff\x01", 3);
  const std::string payload("\xfe\0{", 3);
  good(write(0, {{id, 1, payload}}));
  EXPECT_EQ(session_.cell("SELECT encode(id, 'hex') || ' ' || encode(payload, 'hex') FROM documents_live"),
            "00ff01 fe007b");
}

TEST_F(PostgresStoreTest, FillsColumnsFromPlacesInThePayload) {
  session_.script(
      "CREATE TABLE documents (id text PRIMARY KEY, version bigint, deleted boolean, title varchar(5), "
      "price numeric, tags jsonb)");
  settings_.layout.payload = postgres::PayloadAs::kNone;
  for (const char* column : {"title=/t", "price=/p/0", "tags=/tags"})
    settings_.layout.columns.push_back(good(postgres::parse_column(column)));
  open();
  good(write(0, {{"a", 1, R"({"t":"It's","p":[1.50],"tags":["x"]})"}, {"b", 2, R"({"t":null})"}}));
  EXPECT_THAT(session_.list("SELECT concat_ws('|', id, title, price, tags) FROM documents ORDER BY id"),
              ElementsAre("a|It's|1.50|[\"x\"]", "b"));
  good(write(2, {{"c", 3, R"({"t":"too long"})"}, {"d", 4, R"({"p":["x"]})"}, {"e", 5, "{}"}}));
  EXPECT_THAT(kinds(), ElementsAre(kRefused, kRefused, kHeldBack));
  EXPECT_THAT(answers_[0].words, HasSubstr("value too long for type character varying(5)"));
  EXPECT_THAT(answers_[1].words, HasSubstr("invalid input syntax for type numeric"));
}

TEST_F(PostgresStoreTest, RefusesRowsByConstraintsAlsoByThoseAtTheEnd) {
  settings_.layout.positions = false;
  open();
  session_.script(
      "CREATE TABLE known (id text PRIMARY KEY); INSERT INTO known VALUES ('a'); ALTER TABLE documents ADD "
      "FOREIGN KEY (id) REFERENCES known DEFERRABLE INITIALLY DEFERRED");
  good(write(0, {{"a", 1, "1"}, {"b", 2, "2"}}));
  EXPECT_THAT(kinds(), ElementsAre(kHeldBack, kRefused));
  EXPECT_THAT(answers_[1].words, HasSubstr("violates foreign key constraint"));
  good(write(0, {{"a", 1, "1"}}));
  EXPECT_THAT(live(), ElementsAre("a=1"));
}

TEST_F(PostgresStoreTest, SaysWhatATableLacks) {
  settings_.layout.positions = false;
  session_.script("CREATE TABLE documents (id text PRIMARY KEY, version integer, deleted boolean, payload jsonb)");
  store_ = std::make_unique<PostgresStore>(settings_);
  Result<> prepared = store_->prepare();
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_EQ(prepared.error().message, "table documents has a column version of type integer, not bigint");
  session_.script("ALTER TABLE documents DROP COLUMN version");
  EXPECT_THAT(store_->prepare().error().message, HasSubstr("has no column version: ALTER TABLE"));
  session_.script("ALTER TABLE documents ADD COLUMN version bigint, DROP CONSTRAINT documents_pkey");
  EXPECT_THAT(store_->prepare().error().message, HasSubstr("ON CONFLICT"));
  session_.script("ALTER TABLE documents ADD PRIMARY KEY (id)");
  good(store_->prepare());
}

TEST_F(PostgresStoreTest, WaitsForRightsAndSaysWhich) {
  const std::string role = database_ + "-writer";
  open();
  session_.script("CREATE ROLE \"" + role + "\" LOGIN; GRANT SELECT, INSERT ON documents TO \"" + role +
                  "\"; GRANT SELECT, UPDATE, INSERT ON documents_positions TO \"" + role + "\"");
  settings_.server.server = PostgresServer::shared().url(database_, role);
  store_ = std::make_unique<PostgresStore>(settings_);
  const Result<> refused = write(0, {{"a", 1, "1"}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr("permission denied for table documents"));
  session_.script("GRANT UPDATE ON documents TO \"" + role + "\"");
  good(write(0, {{"a", 1, "1"}}));
  EXPECT_THAT(live(), ElementsAre("a=1"));
}

TEST_F(PostgresStoreTest, ForgetsDeletesThatAreOldEnough) {
  settings_.layout.positions = false;
  settings_.forget_deletes_days = 30;
  open();
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  const auto days_ago = [&](int days) {
    return static_cast<std::uint64_t>((ms - std::chrono::hours(24 * days)).count()) << 16;
  };
  good(write(
      0, {{"old", days_ago(31), std::nullopt}, {"young", days_ago(29), std::nullopt}, {"live", days_ago(99), "1"}}));
  good(store_->tend());
  EXPECT_THAT(session_.list("SELECT id FROM documents ORDER BY id"), ElementsAre("live", "young"));
}

TEST_F(PostgresStoreTest, WritesTheSameFromManySidesWithoutWaitingForEachOther) {
  settings_.layout.positions = false;
  open();
  constexpr int kWriters = 4;
  std::vector<std::thread> writers;
  std::atomic<int> failed = 0;
  for (int w = 0; w < kWriters; ++w)
    writers.emplace_back([&, w] {
      PostgresStore store(settings_);
      for (int round = 0; round < 20; ++round) {
        std::vector<std::string> ids;
        for (int i = 0; i < 50; ++i) ids.push_back("id-" + std::to_string((i * 7 + w * 13) % 50));
        Batch batch{.partition = Partition(0), .first = Offset(0), .next = Offset(1), .writes = {}};
        for (std::size_t i = 0; i < ids.size(); ++i) {
          remote::Write& one = batch.writes.emplace_back();
          one.change.id = ids[i];
          one.change.version = Version(static_cast<std::uint64_t>(round * kWriters + w + 1));
          one.change.payload = "1";
        }
        std::vector<Answer> answers(ids.size());
        failed += store.write(batch, answers).ok() ? 0 : 1;
      }
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(failed, 0);
  EXPECT_THAT(session_.list("SELECT version::text FROM documents"), Each("80"));
}

TEST_F(PostgresStoreTest, DoesNotMakeATableAnewBehindItsPositions) {
  open();
  good(write(0, {{"a", 10, "1"}}));
  session_.script("DROP TABLE documents CASCADE");
  const std::string way_out = "DELETE FROM \"documents_positions\" WHERE topic = 'shop.output.search'";
  const auto other = std::make_unique<PostgresStore>(settings_);
  const Result<> refused = other->prepare();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(refused.error().message, HasSubstr(way_out));
  EXPECT_EQ(session_.cell("SELECT to_regclass('documents')::text"), "(null)");
  std::string found;
  for (const remote::Finding& finding : other->check())
    if (!finding.good) found += finding.to_do;
  EXPECT_THAT(found, HasSubstr(way_out));
  // The one that runs says so, too.
  (void)write(1, {{"b", 11, "1"}});
  const Result<> running = write(1, {{"b", 11, "1"}});
  ASSERT_FALSE(running);
  EXPECT_EQ(running.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(running.error().message, HasSubstr(way_out));
  session_.script(way_out);
  good(other->prepare());
  EXPECT_EQ(session_.cell("SELECT count(*)::text FROM documents"), "0");
}

TEST_F(PostgresStoreTest, SplitsWhatTakesLongerThanAStatementMay) {
  settings_.server.statement_limit = std::chrono::milliseconds(1'000);
  open();
  slow_down("CASE WHEN NEW.id = 'for-ever' THEN 60 ELSE 0.1 END");
  std::vector<Document> documents;
  for (std::uint64_t i = 0; i < 20; ++i) documents.push_back({"id-" + std::to_string(i), i + 1, "1"});
  good(write(0, documents));
  EXPECT_THAT(kinds(), Each(kStored));
  EXPECT_EQ(position(), "20");
  EXPECT_EQ(session_.cell("SELECT count(DISTINCT xmin::text)::text FROM documents WHERE id = 'id-0'"), "1");
  documents = {{"id-0", 30, "2"}, {"for-ever", 31, "1"}, {"id-20", 32, "1"}};
  const auto before = all();
  const Result<> told = write(20, documents);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(told.error().message, HasSubstr("alone takes longer than 1000 ms"));
  EXPECT_THAT(kinds(), Each(Answer::Kind::kAgain));
  EXPECT_EQ(all(), before) << "all of a batch, or nothing";
  session_.script("DROP TRIGGER slow ON documents");
  good(write(20, documents));
  EXPECT_EQ(position(), "23");
}

TEST_F(PostgresStoreTest, FindsWhatIsRefusedInABatchThatTakesTooLong) {
  settings_.server.statement_limit = std::chrono::milliseconds(1'000);
  open();
  slow_down("0.1");
  std::vector<Document> documents;
  for (std::uint64_t i = 0; i < 20; ++i) documents.push_back({"id-" + std::to_string(i), i + 1, "1"});
  session_.script("ALTER TABLE documents ADD CHECK (id <> 'id-7')");
  good(write(0, documents));
  for (std::size_t i = 0; i < documents.size(); ++i) EXPECT_EQ(answers_[i].kind, i == 7 ? kRefused : kHeldBack) << i;
  EXPECT_EQ(position(), "0");
}

TEST_F(PostgresStoreTest, GoesToTheNextHostWhenOneIsSilent) {
  const SilentPort silent;
  std::string server = url_;
  server.replace(server.find("127.0.0.1"), 0, silent.address() + ",");
  server += "?connect_timeout=2";
  settings_.server.server = server;
  open();
  good(write(0, {{"a", 1, "1"}}));
  EXPECT_THAT(live(), ElementsAre("a=1"));
  settings_.server.server = "postgresql://owner@" + silent.address() + "/x?connect_timeout=2";
  const Result<> alone = PostgresStore(settings_).prepare();
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, HasSubstr("no connection within 2000 ms"));
}

TEST_F(PostgresStoreTest, SaysWhichColumnsCannotHoldADelete) {
  settings_.layout.columns.push_back(good(postgres::parse_column("title=/title")));
  session_.script(
      "CREATE TABLE documents (id text PRIMARY KEY, version bigint NOT NULL, deleted boolean NOT NULL, payload jsonb, "
      "title text NOT NULL DEFAULT '', made timestamptz NOT NULL DEFAULT now(), owner text NOT NULL)");
  store_ = std::make_unique<PostgresStore>(settings_);
  const Result<> title = store_->prepare();
  ASSERT_FALSE(title);
  EXPECT_EQ(title.error().what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(title.error().message, HasSubstr("ALTER TABLE \"documents\" ALTER COLUMN \"title\" DROP NOT NULL"));
  session_.script("ALTER TABLE documents ALTER COLUMN title DROP NOT NULL");
  std::string found;
  session_.script(
      "CREATE TABLE documents_positions (topic text, partition integer, next bigint NOT NULL, PRIMARY KEY (topic, "
      "partition))");
  for (const remote::Finding& finding : store_->check())
    if (!finding.good) found += finding.to_do;
  EXPECT_THAT(found, HasSubstr("ALTER COLUMN \"owner\""));
  session_.script("ALTER TABLE documents ALTER COLUMN owner SET DEFAULT 'nobody'");
  open();
  good(write(0, {{"a", 1, std::nullopt}}));
  EXPECT_THAT(kinds(), ElementsAre(kStored));
}

TEST_F(PostgresStoreTest, StopsWaitingWhenItIsInterrupted) {
  open();
  slow_down("30");
  Result<> written = Done{};
  std::atomic<bool> over = false;
  std::thread writer([&] {
    written = write(0, {{"a", 1, "1"}});
    over = true;
  });
  const bool waits = wait_until(kPatience, [&] {
    return session_.cell("SELECT count(*)::text FROM pg_stat_activity WHERE wait_event = 'PgSleep'") != "0";
  });
  EXPECT_TRUE(waits && !over);
  const auto begun = std::chrono::steady_clock::now();
  store_->interrupt();
  writer.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what_to_do, ErrorClass::kTimeout);
}

}  // namespace
}  // namespace reseq::test
