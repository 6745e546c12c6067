#include "codec/row_kinds.h"

#include <gtest/gtest.h>
#include <set>
#include <string>
#include <utility>

#include "model/partition_state.h"

namespace reseq::codec {
namespace {

using namespace std::string_literals;

TEST(RowKinds, HaveOneLineEach) {
  std::set<std::pair<char, char>> seen;
  for (const RowKind& kind : kRowKinds)
    EXPECT_TRUE(seen.emplace(static_cast<char>(kind.type), kind.realm).second) << kind.name;
}

TEST(RowKinds, AreFoundByTheirKey) {
  EXPECT_EQ(row_kind_of(meta_key())->name, "meta");
  EXPECT_EQ(row_kind_of(target_table_key())->name, "target table");
  EXPECT_EQ(row_kind_of(identity_key())->name, "identity");
  EXPECT_EQ(row_kind_of("D\0\0id\0\0"s)->name, "document");
}

TEST(RowKinds, OfNewerVersionsAreNotKnown) {
  for (const char type : {'H', 'P', 'X', 'C', 'G', 'Q', 'd', '\0'})
    EXPECT_EQ(row_kind_of(type + "\0\0id\0\0"s), nullptr) << type;
  for (const char realm : {'\1', '\2'}) EXPECT_EQ(row_kind_of("D"s + realm + "\0id\0\0"s), nullptr);
  EXPECT_EQ(row_kind_of(""), nullptr);
  EXPECT_EQ(row_kind_of("D"), nullptr);
}

TEST(RowKinds, SayWhatTheirRowsCountAs) {
  Row row;
  std::string value;
  encode_row("D\0\0id\0\0"s, "id", row, value);
  Counts counts;
  counts.add(counted("D\0\0id\0\0"s, value));
  EXPECT_EQ(counts[Count::kWatermarks], 1U);
  EXPECT_EQ(counts[Count::kLiveRows], 0U);
  counts.subtract(counted("D\0\0id\0\0"s, value));
  EXPECT_EQ(counts, Counts());

  std::string meta;
  encode_meta(meta_key(), Meta(), meta);
  counts.add(counted(meta_key(), meta));
  EXPECT_EQ(counts, Counts());
  EXPECT_EQ(timer_of(meta_key(), meta), std::nullopt);
}

TEST(RowKinds, CheckTheirRows) {
  std::string meta;
  encode_meta(meta_key(), Meta(), meta);
  EXPECT_EQ(row_kind_of(meta_key())->check(meta_key(), meta), std::nullopt);
  EXPECT_NE(row_kind_of(identity_key())->check(identity_key(), meta), std::nullopt);
  meta.back() = static_cast<char>(meta.back() ^ 1);
  EXPECT_NE(row_kind_of(meta_key())->check(meta_key(), meta), std::nullopt);
}

}  // namespace
}  // namespace reseq::codec
