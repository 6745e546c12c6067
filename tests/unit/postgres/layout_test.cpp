// Names, columns and statements of a layout.
#include "consumers/postgres/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "consumers/postgres/connection.h"

namespace reseq::postgres {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(TableName, IsQuotedPartByPart) {
  EXPECT_EQ(quoted_name("documents"), "\"documents\"");
  EXPECT_EQ(quoted_name("shop.documents"), "\"shop\".\"documents\"");
  EXPECT_EQ(quoted_name(".documents"), "\"\".\"documents\"");  // which the server refuses
  EXPECT_EQ(quoted_name("a\"; DROP TABLE b; --"), "\"a\"\"; DROP TABLE b; --\"");
}

TEST(ColumnOfMapping, IsANameAndAJsonPointer) {
  const Column column = parse_column("title=/meta/0/a~1b~0c").value();
  EXPECT_EQ(column.name, "title");
  EXPECT_THAT(column.path, ElementsAre("meta", "0", "a/b~c"));
  EXPECT_TRUE(parse_column("whole=").value().path.empty());
}

TEST(ColumnOfMapping, IsRefusedWithTheReason) {
  EXPECT_THAT(parse_column("title").error().message, HasSubstr("NAME=POINTER"));
  EXPECT_THAT(parse_column("=/a").error().message, HasSubstr("NAME=POINTER"));
  EXPECT_THAT(parse_column("title=a").error().message, HasSubstr("begins with /"));
  EXPECT_THAT(parse_column("title=/a~2").error().message, HasSubstr("~0"));
  EXPECT_THAT(parse_column("version=/v").error().message, HasSubstr("itself"));
}

TEST(WriteStatement, ComparesVersionsUnlessTheyAreOff) {
  Layout layout;
  EXPECT_THAT(write_statement(layout), HasSubstr("WHERE d.version < excluded.version"));
  EXPECT_THAT(write_statement(layout), Not(HasSubstr("moved")));
  layout.versions = false;
  EXPECT_THAT(write_statement(layout), Not(HasSubstr("d.version < excluded.version")));
}

TEST(WriteStatement, HangsOnThePosition) {
  Layout layout;
  layout.table = "shop.documents";
  EXPECT_THAT(write_and_move_statement(layout),
              HasSubstr("UPDATE \"shop\".\"documents_positions\" SET next = $8 WHERE topic = $5 AND partition = $6 "
                        "AND next = $7"));
  EXPECT_THAT(write_and_move_statement(layout), HasSubstr("WHERE EXISTS (SELECT FROM moved)"));
}

TEST(WriteStatement, QuotesWhatAMappingSays) {
  Layout layout;
  layout.columns = {{.name = "a\"b", .path = {"it's", "\"q\"", "back\\slash"}, .type = "integer"},
                    {.name = "short", .path = {"s"}, .type = "character varying"},
                    {.name = "doc", .path = {}, .type = "jsonb"}};
  const std::string statement = write_statement(layout);
  EXPECT_THAT(statement, HasSubstr(R"(w.j END #>> '{"it''s","\"q\"","back\\slash"}')::integer)"));
  EXPECT_THAT(statement, HasSubstr(R"("a""b" = excluded."a""b")"));
  EXPECT_THAT(statement, HasSubstr(R"((CASE WHEN w.error IS NULL THEN w.j END #>> '{"s"}'))"))
      << "a cast would cut it in silence";
  EXPECT_THAT(statement, HasSubstr("w.j END #> '{}')::jsonb"));
}

TEST(WriteStatement, LeavesTheColumnOfErrorsToWhoHasIt) {
  Layout layout;
  EXPECT_THAT(write_statement(layout), HasSubstr("error = excluded.error"));
  EXPECT_THAT(make_statements(layout), HasSubstr(", payload jsonb, error text)"));
  layout.errors = false;
  EXPECT_THAT(write_statement(layout), Not(HasSubstr("excluded.error"))) << "the table has none";
  layout.errors = true;
  layout.columns = {{.name = "error", .path = {"e"}}};
  EXPECT_THAT(write_statement(layout), HasSubstr("w.j END #>> '{\"e\"}'"));
  EXPECT_THAT(write_statement(layout), Not(HasSubstr(", w.error"))) << "a mapping fills it";
  EXPECT_THAT(make_statements(layout), HasSubstr(", payload jsonb, \"error\" text)"));
}

TEST(ServerWords, MustNotHoldAPassword) {
  EXPECT_TRUE(check_server("postgresql://user@127.0.0.1:5432/shop"));
  EXPECT_TRUE(check_server(""));
  EXPECT_THAT(check_server("postgresql://user:secret@127.0.0.1/shop").error().message, HasSubstr("--password-file"));
  EXPECT_THAT(check_server("host=127.0.0.1 password=secret").error().message, HasSubstr("--password-file"));
  EXPECT_THAT(check_server("no such words").error().message, HasSubstr("cannot be read"));
  EXPECT_EQ(place_of("postgresql://user@127.0.0.1:5432/shop"), "postgresql host=127.0.0.1 port=5432 dbname=shop");
}

}  // namespace
}  // namespace reseq::postgres
