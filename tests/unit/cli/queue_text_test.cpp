// What a person reads of orders that wait, of documents as an instance tells them.
#include "cli/queue_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/selection.h"
#include "cli/show.h"

namespace reseq::cli {
namespace {

using admin::Json;
using admin::State;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const Json kPart = Json::parse(R"({"partition": 3, "instance": "1", "in_flight": {"documents": 20, "max": 20}})");

Json entry(const char* state, int sequence, const char* more) {
  Json one = Json::parse(more);
  one["state"] = state;
  one["order"] = {{"epoch", 0}, {"seq", std::to_string(sequence)}, {"revision", "0"}};
  one["targets"] = {"search"};
  one["priority"] = 7;
  one["process_at"] = "2024-02-29T00:00:00.001Z";
  return one;
}

Json document(std::vector<Json> journal) {
  Json one = {{"id", "book"}, {"partition", 3}, {"state", "live"}, {"groups", Json::array()}};
  one["journal"] = std::move(journal);
  one["request"] = {{"order", one["journal"][0]["order"]}, {"offset", 4}, {"forwarded", Json::array()}};
  return one;
}

std::string told(const Json& what, const std::vector<Json>& others = {}) {
  std::vector<Json> all = {what};
  all.insert(all.end(), others.begin(), others.end());
  return order_in_queue_text(kPart, document(all), what);
}

TEST(OrderInQueue, SaysWhatKeepsItFromItsDispatch) {
  const Json under_way = entry("processing", 17, R"({"attempt": 2, "lease_until": "2024-02-29T01:00:00.000Z"})");
  const std::string head = "18 for search, priority 7: ";
  EXPECT_EQ(told(entry("waiting", 18, R"({"waits_for": "date"})")), head + "not before 2024-02-29T00:00:00.001Z");
  EXPECT_EQ(told(entry("waiting", 18, R"({"waits_for": "older_order"})"), {under_way}),
            head +
                "an older order, 17, is under way: attempt 2, it waits again at 2024-02-29T01:00:00.000Z if nobody "
                "answers");
  EXPECT_EQ(told(entry("waiting", 18, R"({"waits_for": "idle"})")), head + "idle: something more urgent is under way");
  EXPECT_EQ(told(entry("waiting", 18, R"({"waits_for": "room"})")),
            head + "20 documents of in_flight_max = 20 are under way");
  EXPECT_EQ(told(entry("waiting", 18, R"({"waits_for": "turn"})")),
            head + "it is its turn once what is more urgent has left");
}

TEST(OrderInQueue, OfAnotherVersionOrHalfOfAnAnswerIsShownAllTheSame) {
  EXPECT_EQ(told(entry("waiting", 18, R"({"waits_for": "the moon"})")), "18 for search, priority 7: -");
  EXPECT_EQ(order_in_queue_text(Json::object(), Json::object(), Json::object()), "- for -, priority -: attempt -");
  EXPECT_THAT(order_in_queue_text(Json::object(), Json::object(), entry("waiting", 1, R"({"waits_for": "room"})")),
              HasSubstr("- documents of in_flight_max = - are under way"));
}

TEST(OrderInQueue, SaysHowOftenItWasTriedAndUntilWhenItIsWanted) {
  EXPECT_EQ(told(entry("waiting", 18, R"({"waits_for": "turn", "attempt": 6, "leases_lost": 6, "stuck": true,
                                          "expires_at": "2024-03-01T00:00:00.000Z"})")),
            "18 for search, priority 7: it is its turn once what is more urgent has left; attempt 6 was the last one; "
            "stuck: its lease was lost 6 times, it is tried behind all others; nobody wants it from "
            "2024-03-01T00:00:00.000Z on");
}

TEST(QueueText, HasALineForEachOrderAndNoneWithoutAJournal) {
  const Json both =
      document({entry("waiting", 18, R"({"waits_for": "turn"})"), entry("processing", 17, R"({"attempt": 1})")});
  EXPECT_EQ(queue_text(kPart, both),
            "waits for its dispatch: 18 for search, priority 7: it is its turn once what is more urgent has left\n"
            "is under way: 17 for search, priority 7: attempt 1\n");
  EXPECT_EQ(queue_text(kPart, Json::parse(R"({"id": "book", "groups": []})")), "");
}

TEST(DocumentText, ShowsWhatWaitsAndWhatIsUnderWay) {
  const std::string text = document_text(kPart, document({entry("waiting", 18, R"({"waits_for": "turn"})")}));
  EXPECT_THAT(text, HasSubstr("\nwaiting          18 for search, priority 7: it is its turn"));
}

TEST(ListText, OfAStateOfTheQueueHasALineForEachOrderInIt) {
  Json documents = Json::array();
  documents.push_back(
      document({entry("waiting", 18, R"({"waits_for": "older_order", "expires_at": "2024-03-01T00:00:00.000Z"})"),
                entry("processing", 17, R"({"attempt": 2, "lease_until": "2024-02-29T01:00:00.000Z", "stuck": true,
                                            "leases_lost": 1})")}));
  const std::string waiting = list_text(documents, State::kWaiting, View::kTable);
  EXPECT_THAT(waiting, StartsWith("PARTITION  ID    ORDER  TARGETS  PRIORITY  PROCESS AT"));
  EXPECT_THAT(waiting,
              HasSubstr("book  18     search   7         2024-02-29T00:00:00.001Z  2024-03-01T00:00:00.000Z  -"));
  EXPECT_THAT(waiting, HasSubstr("older_order"));
  EXPECT_THAT(waiting, Not(HasSubstr(" 17 ")));
  const std::string processing = list_text(documents, State::kProcessing, View::kWide);
  EXPECT_THAT(processing, HasSubstr("book  17     search   7         2024-02-29T00:00:00.001Z  -           2        "
                                    "2024-02-29T01:00:00.000Z"));
  EXPECT_THAT(processing, HasSubstr("processing"));
  EXPECT_THAT(list_text(documents, State::kStuck, View::kTable), HasSubstr("book  17"));
  EXPECT_THAT(list_text(documents, State::kLive, View::kTable), HasSubstr("book  live   18"))
      << "its newest order, although no target has it yet";
}

TEST(ListText, OfWhatIsTriedAgainSaysWhen) {
  Json one = {{"id", "book"}, {"partition", 3}, {"state", "live"}, {"groups", Json::array()}};
  one["failures"] = Json::parse(R"([
    {"state": "retrying", "order": {"epoch": 0, "seq": "18", "revision": "0"}, "targets": ["search"], "attempt": 1,
     "retries": 0, "at": "2024-02-29T00:00:00.001Z", "next_at": "2024-02-29T00:00:05.001Z", "error": "locked"},
    {"state": "retrying", "order": {"epoch": 0, "seq": "18", "revision": "0"}, "targets": ["lake"], "attempt": 2,
     "retries": 1, "at": "2024-02-29T00:00:00.002Z", "error": "away"},
    {"state": "failed", "order": {"epoch": 0, "seq": "18", "revision": "0"}, "targets": ["mail"], "attempt": 1,
     "retries": 0, "at": "2024-02-29T00:00:00.003Z"}])");
  EXPECT_EQ(
      list_text(Json::array({one}), State::kRetrying, View::kTable),
      "PARTITION  ID    ORDER  TARGETS  ATTEMPT  RETRIES  AT                        NEXT                      ERROR\n"
      "3          book  18     search   1        0        2024-02-29T00:00:00.001Z  2024-02-29T00:00:05.001Z  locked\n"
      "3          book  18     lake     2        1        2024-02-29T00:00:00.002Z  -                         away\n");
  EXPECT_THAT(list_text(Json::array({one}), State::kFailed, View::kTable), Not(HasSubstr("NEXT")))
      << "nothing tries it again";
}

TEST(CausingTargets, OfAStateOfTheQueueAreThoseOfTheOrdersInIt) {
  Json waits = entry("waiting", 18, "{}");
  waits["targets"] = {"search", "lake"};
  const Json both = document({waits, entry("processing", 17, R"({"stuck": true})")});
  EXPECT_THAT(causing_targets(both, State::kWaiting), ElementsAre("search", "lake"));
  EXPECT_THAT(causing_targets(both, State::kLive), ElementsAre("search", "lake"));
  EXPECT_THAT(causing_targets(both, State::kProcessing), ElementsAre("search"));
  EXPECT_THAT(causing_targets(both, State::kStuck), ElementsAre("search"));
  EXPECT_THAT(causing_targets(document({waits}), State::kStuck), IsEmpty());
}

}  // namespace
}  // namespace reseq::cli
