// A strict target whose versions wait in a journal, with a worker on a simulated Kafka: what it tells of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "telling_worker.h"

namespace reseq::runtime {
namespace {

using testing::HasSubstr;

class LanesThatWait : public TellingWorker {
 protected:
  LanesThatWait() : TellingWorker(with_journal()) {}
  static config::Settings with_journal() {
    config::Settings settings = of_one_target();
    settings.targets.push_back({.name = "history", .order = "strict"});
    settings.dispatch_mode = "journal";
    settings.dispatch_in_flight_max = 1;
    settings.orders_lane_in_flight_max = 2;
    return settings;
  }
  void request(const std::string& id, const std::string& sequence) {
    const std::vector<simulation::StoredHeader> headers = {{"reseq-seq", sequence}, {"reseq-targets", "history"}};
    broker.append({*broker.topic("app.requests"), Partition(0)}, {id, "{}", headers, broker.now()});
    steps(50);
  }
  void result(const std::string& id, const std::string& sequence) {
    broker.append({*broker.topic("app.commands"), Partition(0)},
                  {id,
                   "{}",
                   {{"reseq-command", "sequence"}, {"reseq-seq", sequence}, {"reseq-target", "history"}},
                   broker.now()});
    steps(50);
  }
  admin::Json lane_of(const std::string& id) {
    const admin::Json told = state_json(*ask(admin::DocumentQuery{id}), application, clock.now());
    return told["documents"][0]["lanes"][0];
  }
  admin::Json lanes() { return stats_reply(application, seen(), clock.now())["partitions"][0]["documents"]["lanes"]; }
};

TEST_F(LanesThatWait, HaveNoGapWhileTheyHaveALeaseOrWaitForADispatch) {
  request("film", "1");
  request("book", "1");
  const admin::Json film = lane_of("film")["waits_for"];
  EXPECT_TRUE(film.contains("since"));
  EXPECT_FALSE(film.contains("skipped_at")) << "what has a lease is skipped";
  EXPECT_FALSE(film.contains("has_result"));
  const admin::Json book = lane_of("book")["waits_for"];
  EXPECT_FALSE(book.contains("since")) << "it has not gone to work: " << book;
  EXPECT_FALSE(book.contains("skipped_at"));
  EXPECT_THAT(text(), HasSubstr("reseq_lane_head_seconds{partition=\"0\"} 0\n"));
}

TEST_F(LanesThatWait, SayHowManyVersionsWaitBehindThoseOfTheirDocumentThatAreInTheJournal) {
  for (const char* sequence : {"1", "2", "3", "4", "5"}) request("book", sequence);
  EXPECT_EQ(lanes()["places"], 5);
  EXPECT_EQ(lanes()["queued"], 3);
  EXPECT_THAT(text(), HasSubstr("reseq_lane_places_queued{partition=\"0\"} 3\n"));
  result("book", "2");
  EXPECT_EQ(lane_of("book")["held"]["results"], 1);
  EXPECT_EQ(lanes()["queued"], 2) << "what is held takes room in the journal";
  result("book", "1");
  EXPECT_EQ(lanes()["places"], 3);
  EXPECT_EQ(lanes()["queued"], 1);
}

}  // namespace
}  // namespace reseq::runtime
