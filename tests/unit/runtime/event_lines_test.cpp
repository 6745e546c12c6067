// The lines that `why` and the page show of a document's events: what is one line, and what its columns say.
#include "runtime/application/event_lines.h"

#include <gtest/gtest.h>
#include <limits>
#include <string>
#include <vector>

namespace reseq::runtime {
namespace {

using admin::Json;
using LineTexts = std::vector<std::string>;

Json event_of(const std::string& outcome, const std::string& reason) {
  return {{"kind", "outcome"}, {"outcome", outcome}, {"reason", reason}};
}

Json event_of_drop(const std::string& topic, const std::string& row, const std::string& target = "") {
  Json json = event_of("dropped", "superseded");
  json["table_row"] = row;
  json["source"] = {{"topic", topic}, {"partition", 0}, {"offset", 1}};
  if (!target.empty()) json["target"] = target;
  return json;
}

const Json kRequestDrop = event_of_drop("requests", "R2");
const Json kSearchDrop = event_of_drop("commands", "S4", "search");
const Json kShopDrop = event_of_drop("commands", "S4", "shop");
const Json kLetterEvent = event_of("dead_lettered", "misrouted");

// Pieces are told newest first, the events of one oldest first, as they are read; times are counted by the caller.
class PiecesTold {
 public:
  explicit PiecesTold(std::size_t lines_max = 20) : lines_(lines_max) {}

  bool piece(std::int64_t first_ms, const std::vector<Json>& events) {
    for (const Json& json : events) lines_.add(UnixMs(first_ms++), json);
    return lines_.end_piece();
  }

  // "S4 search x2 3..5": row, target, count, since and at.
  LineTexts texts() {
    LineTexts texts;
    for (const PastEvent& line : lines_.take())
      texts.push_back(line.json.value("table_row", "-") + " " + line.json.value("target", "-") + " x" +
                      std::to_string(line.count) + " " + std::to_string(line.since.value()) + ".." +
                      std::to_string(line.at.value()));
    return texts;
  }
  [[nodiscard]] bool more() const { return lines_.more(); }

 private:
  EventLines lines_;
};

TEST(EventHistory, MakesOneRunOfInputsDroppedForOneReason) {
  EventLines lines(20);
  for (int at = 1; at <= 3; ++at) lines.add(UnixMs(at), event_of("dropped", "superseded"));
  lines.add(UnixMs(4), event_of("dropped", "stale"));
  lines.add(UnixMs(5), kLetterEvent);
  lines.add(UnixMs(6), kLetterEvent);
  EXPECT_FALSE(lines.end_piece());
  const std::vector<PastEvent> told = lines.take();
  ASSERT_EQ(told.size(), 4U);
  EXPECT_EQ(told[3].count, 3);
  EXPECT_EQ(told[3].at, UnixMs(3));
  EXPECT_EQ(told[3].since, UnixMs(1));
  EXPECT_EQ(event_json(told[3])["since"], "1970-01-01T00:00:00.001Z");
  EXPECT_FALSE(event_json(told[2]).contains("count"));
}

TEST(EventHistory, MakesARunOnlyOfInputsThatAgreeInTopicRowAndTarget) {
  PiecesTold told;
  told.piece(1, {kRequestDrop, kRequestDrop, event_of_drop("requests", "R4"), event_of_drop("commands", "R4"),
                 kSearchDrop, kShopDrop});
  EXPECT_EQ(told.texts(),
            LineTexts({"S4 shop x1 6..6", "S4 search x1 5..5", "R4 - x1 4..4", "R4 - x1 3..3", "R2 - x2 1..2"}));
}

// As of a document for which more is requested than its pipeline can do.
TEST(EventHistory, MakesOneRunPerKindOfRequestsAndResultsThatAlternate) {
  PiecesTold told;
  std::vector<Json> events;
  for (int i = 0; i < 1'000; ++i) events.insert(events.end(), {kRequestDrop, kRequestDrop, kShopDrop, kSearchDrop});
  told.piece(1, events);
  EXPECT_EQ(told.texts(), LineTexts({"S4 search x1000 4..4000", "S4 shop x1000 3..3999", "R2 - x2000 1..3998"}));
  EXPECT_FALSE(told.more());
}

TEST(EventHistory, EndsRunsWhereSomethingElseBecameOfTheDocument) {
  PiecesTold told;
  told.piece(1, {kRequestDrop, kSearchDrop, kLetterEvent, kRequestDrop, kSearchDrop});
  EXPECT_EQ(told.texts(),
            LineTexts({"S4 search x1 5..5", "R2 - x1 4..4", "- - x1 3..3", "S4 search x1 2..2", "R2 - x1 1..1"}));
}

TEST(EventHistory, GoesOnWithRunsInTheOlderPiece) {
  PiecesTold told;
  told.piece(21, {kSearchDrop, kRequestDrop});
  told.piece(11, {kSearchDrop, kLetterEvent, kShopDrop, kSearchDrop, kSearchDrop});
  told.piece(1, {kShopDrop, kSearchDrop});
  EXPECT_EQ(told.texts(), LineTexts({"R2 - x1 22..22", "S4 search x3 14..21", "S4 shop x1 13..13", "- - x1 12..12",
                                     "S4 search x2 2..11", "S4 shop x1 1..1"}));
}

TEST(EventHistory, ReadsUntilNoRunThatIsShownCanHaveOlderInputs) {
  PiecesTold told(2);
  EXPECT_FALSE(told.piece(31, {kRequestDrop, kShopDrop, kSearchDrop}))
      << "one line more than wanted, but all may go on";
  EXPECT_FALSE(told.piece(21, {kShopDrop, kSearchDrop}));
  EXPECT_TRUE(told.piece(11, {kLetterEvent, kSearchDrop})) << "the runs have ended";
  EXPECT_EQ(told.texts(), LineTexts({"S4 search x3 12..33", "S4 shop x2 21..32"}));
  EXPECT_TRUE(told.more());
}

TEST(EventHistory, CountsLinesAndNotEvents) {
  PiecesTold told(2);
  EXPECT_TRUE(told.piece(1, {kSearchDrop, kLetterEvent, kShopDrop, kShopDrop, kShopDrop, kLetterEvent}));
  EXPECT_EQ(told.texts(), LineTexts({"- - x1 6..6", "S4 shop x3 3..5"}));
  EXPECT_TRUE(told.more());
  PiecesTold all(4);
  EXPECT_FALSE(all.piece(1, {kSearchDrop, kLetterEvent, kShopDrop, kLetterEvent}));
  EXPECT_EQ(all.texts().size(), 4U);
  EXPECT_FALSE(all.more());
}

TEST(EventHistory, IsBoundedWhateverATopicHolds) {
  PiecesTold told(2);
  std::vector<Json> events;
  for (std::size_t i = 0; i < 3 * kKindsMax; ++i) events.push_back(event_of_drop("commands", "S4", std::to_string(i)));
  EXPECT_TRUE(told.piece(1, events)) << "more kinds than there can be are not waited for";
  EXPECT_EQ(told.texts(), LineTexts({"S4 2999 x1 3000..3000", "S4 2998 x1 2999..2999"}));
  EXPECT_TRUE(told.more());
  PiecesTold letters(2);
  EXPECT_TRUE(letters.piece(1, std::vector<Json>(3 * kKindsMax, kLetterEvent)));
  PiecesTold all(std::numeric_limits<std::size_t>::max() / 2);
  EXPECT_FALSE(all.piece(1, std::vector<Json>(3 * kKindsMax, kLetterEvent)));
  EXPECT_EQ(all.texts().size(), 3 * kKindsMax);
}

TEST(Latecomers, AreRequestsOfWhichSomethingNewerWasKnown) {
  const Json part = {{"partition", 0}};
  const Json document = {{"request", {{"offset", 1}}}};
  const auto late = [&](const std::string& row, const std::string& reason) {
    Json event = event_of_drop("requests", row);
    event["reason"] = reason;
    return latecomers_of(part, document, {PastEvent{.at = UnixMs(1), .json = event}}, "requests").count;
  };
  for (const char* row : {"R0", "R4", "O1"})
    for (const char* reason : {"superseded", "epoch_behind"}) EXPECT_EQ(late(row, reason), 1) << row << reason;
  EXPECT_EQ(late("R2", "superseded"), 0) << "it was the newest";
  EXPECT_EQ(late("O1", "duplicate"), 0) << "it was sent again";
}

}  // namespace
}  // namespace reseq::runtime
