// What a person reads of lanes, of documents as an instance tells them.
#include "cli/lane_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "cli/show.h"

namespace reseq::cli {
namespace {

using admin::Json;
using admin::State;
using testing::HasSubstr;

// `history` waits for its first version, `audit` for a film.
const Json kBook = Json::parse(R"({
  "id": "book", "partition": 3, "state": "live", "groups": [], "lanes": [
    {"target": "history", "places": 3,
     "waits_for": {"target": "history", "id": "book", "order": {"epoch": 0, "seq": "1", "revision": "0"},
                   "since": "2024-02-29T00:00:00.001Z", "skipped_at": "2024-02-29T00:10:00.001Z"},
     "held": {"results": 2, "order": {"epoch": 0, "seq": "2", "revision": "0"},
              "since": "2024-02-29T00:00:02.000Z", "came": "2024-02-29T00:00:03.000Z"},
     "blocks": {"results": 1000, "more": true}},
    {"target": "audit", "places": 1,
     "waits_for": {"target": "audit", "id": "film", "order": {"epoch": 2, "seq": "7", "revision": "0"},
                   "since": "2024-02-29T00:00:00.000Z", "has_result": true},
     "held": {"results": 1, "order": {"epoch": 0, "seq": "3", "revision": "0"},
              "since": "2024-02-29T00:00:04.000Z", "came": "2024-02-29T00:00:05.000Z"}}]})");

TEST(LaneList, OfWhatIsHeldSaysSinceWhenAndWhatItWaitsFor) {
  const std::string text = list_text(Json::array({kBook}), State::kHeld, View::kTable);
  EXPECT_EQ(text,
            "PARTITION  ID    TARGET   ORDER  HELD  WENT TO WORK              CAME                      WAITS FOR  "
            "SKIPPED AT\n"
            "3          book  history  2      2     2024-02-29T00:00:02.000Z  2024-02-29T00:00:03.000Z  book 1     "
            "2024-02-29T00:10:00.001Z\n"
            "3          book  audit    3      1     2024-02-29T00:00:04.000Z  2024-02-29T00:00:05.000Z  turn       -\n")
      << "what leaves now is waited for as if it were lost";
}

TEST(LaneList, OfGapsSaysWhenTheyAreSkippedAndWhatTheyHoldBack) {
  EXPECT_EQ(list_text(Json::array({kBook}), State::kGap, View::kTable),
            "PARTITION  ID    TARGET   ORDER  HOLDS BACK  WENT TO WORK              SKIPPED AT\n"
            "3          book  history  1      1000+       2024-02-29T00:00:00.001Z  2024-02-29T00:10:00.001Z\n");
}

TEST(LaneList, OfHalfOfAnAnswerIsShownAllTheSame) {
  const Json half = Json::parse(R"({"id": "book", "lanes": [{"target": "audit", "held": 1, "blocks": 1}, 7]})");
  EXPECT_THAT(list_text(Json::array({half}), State::kHeld, View::kWide), HasSubstr("book  audit   -      0"));
  EXPECT_THAT(list_text(Json::array({half}), State::kGap, View::kTable), HasSubstr("book  audit   -      0"));
}

TEST(LanesOfADocument, SayWhatIsHeldAndWhatThatWaitsFor) {
  const std::string text = lanes_of_document_text(kBook);
  EXPECT_THAT(text, HasSubstr("history waits for 3 versions of it, and first for book 1, which went to work at "
                              "2024-02-29T00:00:00.001Z and is skipped at 2024-02-29T00:10:00.001Z; results of it that "
                              "are held: 2; results that wait for it: 1000+\n"));
  EXPECT_THAT(text, HasSubstr("audit waits for 1 version of it, and first for film 2/7, which went to work at "
                              "2024-02-29T00:00:00.000Z and leaves now; results of it that are held: 1\n"));
  const std::string all = document_text(Json::object(), kBook);
  EXPECT_THAT(all, HasSubstr("held             2, first 2, which came at 2024-02-29T00:00:03.000Z\n"));
  EXPECT_THAT(all, HasSubstr("holds back       1000+\n"));
}

TEST(LanesOfADocument, SayOfAHeadWithoutAGapClockWhatComesNext) {
  const auto text = [](const std::string& head) {
    return lanes_of_document_text(Json::parse(R"({"lanes": [{"target": "history", "places": 1, "waits_for": {
        "target": "history", "id": "book", "order": {"epoch": 0, "seq": "1", "revision": "0"})" +
                                              head + "}}]}"));
  };
  EXPECT_THAT(text(""), HasSubstr("first for book 1, which waits to go to work\n"));
  EXPECT_THAT(text(R"(, "has_result": true)"), HasSubstr("first for book 1, which leaves now\n"));
  EXPECT_THAT(text(R"(, "since": "A")"), HasSubstr("which went to work at A and is tried again when its lease ends\n"));
}

TEST(LanesOfAll, AreSummedUpByTargetAndNameTheGapThatIsSkippedFirst) {
  const auto part = [](int partition, const std::string& lanes) {
    return R"({"partition": )" + std::to_string(partition) + R"(, "state": "running", "documents": {"lanes": )" +
           lanes + "}}";
  };
  const auto head = [](const std::string& id, const std::string& skipped_at) {
    return R"("waits_for": {"target": "audit", "id": ")" + id +
           R"(", "order": {"epoch": 0, "seq": "7", "revision": "0"}, "since": "2024-02-29T00:00:00.000Z",
               "skipped_at": ")" +
           skipped_at + R"("})";
  };
  admin::Answers answers;
  answers.add(Json::parse(R"({"instance": "1", "partitions_total": 3, "partitions": [)" +
                          part(0, R"({"places": 5, "by_target": {"audit": {"places": 5, "held": 0, "gaps": 0, )" +
                                      head("early", "2024-02-29T00:01:00.000Z") + "}}}") +
                          "," +
                          part(1, R"({"places": 4, "by_target": {"audit": {"places": 4, "held": 2, "gaps": 1, )" +
                                      head("late", "2024-02-29T00:03:00.000Z") + "}}}") +
                          "," +
                          part(2, R"({"places": 2, "by_target": {"audit": {"places": 2, "held": 1, "gaps": 1, )" +
                                      head("gap", "2024-02-29T00:02:00.000Z") + "}}}") +
                          "]}"));
  EXPECT_THAT(lanes_text(answers),
              HasSubstr("TARGET  PLACES  HELD  GAPS  WAITS FOR  WENT TO WORK              SKIPPED AT\n"
                        "audit   11      3     2     gap 7      2024-02-29T00:00:00.000Z  2024-02-29T00:02:00.000Z\n"
                        "11 places in lanes"));
  EXPECT_EQ(lanes_text(admin::Answers()), "");
}

TEST(LanesOfADocument, SayHowFarATargetHasGoneThatWaitsForNothing) {
  EXPECT_EQ(lanes_of_document_text(Json::parse(R"({"lanes": [{"target": "audit", "places": 0}]})")), "");
  EXPECT_EQ(lanes_of_document_text(Json::parse(R"({"lanes": [{"target": "audit", "places": 0,
                "mark": {"epoch": 2, "seq": "7", "revision": "0"}}]})")),
            "audit has gone on to 2/7\n");
  EXPECT_EQ(lanes_of_document_text(Json::object()), "");
}

}  // namespace
}  // namespace reseq::cli
