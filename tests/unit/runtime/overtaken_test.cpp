// A takeover that sleeps while others write: what it reads then is not what it asked for the end of.
#include <gtest/gtest.h>
#include <initializer_list>
#include <memory>
#include <string>

#include "changelog/batch_rows.h"
#include "changelog/restorer.h"
#include "runtime/application/inputs.h"
#include "runtime/takeover/parking.h"
#include "runtime/takeover/takeover.h"
#include "runtime/takeover/takeover_questions.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using test::good;

class OvertakenTakeover : public SimulatedApplication {
 protected:
  OvertakenTakeover() {
    consumer = good(kafka->consumer(application.topics.of(Role::kRequests)));
    reader = good(kafka->log_reader());
    restorer = std::make_unique<changelog::Restorer>(*reader, changelog_of_application(),
                                                     changelog::MemoryLimit{1'000, 1'000'000});
    producer = good(kafka->producer());
    good(producer->init(simulation::kLimit));
  }
  kafka::TopicIndex changelog_of_application() const { return application.topics.of(Role::kChangelog); }

  // In one transaction.
  void write(std::initializer_list<store::Change> rows) {
    good(producer->begin());
    for (const store::Change& row : rows)
      good(producer->produce(
          {.topic = changelog_of_application(), .partition = Partition(0), .key = row.key, .payload = row.value}));
    good(producer->commit(simulation::kLimit));
    ticks(1);
  }
  store::Change identity_row() {
    Identity identity;
    identity.application_id = application.settings.application_id;
    identity.cluster_id = application.cluster_id;
    identity.partitions = application.partitions;
    return changelog::identity_row(identity, arena);
  }
  store::Change targets_row() { return changelog::targets_row(TargetTable({"search"}), arena); }
  store::Change meta_row() {
    Meta meta;
    meta.lineage = {{1, Offset(0)}};
    for (const Role role : kInputs) meta.positions.push_back({role, Offset(0)});
    store::PartitionStore written;
    good(written.restore(identity_row(), Offset(0)));
    good(written.restore(targets_row(), Offset(1)));
    meta.summary = written.summary();
    return changelog::meta_row(meta, arena);
  }
  // To the end of an empty changelog, which is not looked at yet.
  void aim() {
    while (takeover.phase() != Phase::kRestore) {
      takeover.step(*restorer);
      questions.ask({&takeover}, *consumer, *restorer);
      ticks(1);
    }
  }
  void read(std::size_t records) {
    for (const auto& failure : good(restorer->step(records, Milliseconds(0)))) ADD_FAILURE() << failure.error.message;
  }
  void go_on() {
    for (int i = 0; i < 100 && !parking.parked() && takeover.phase() != Phase::kReady; ++i) {
      takeover.step(*restorer);
      questions.ask({&takeover}, *consumer, *restorer);
      read(100);
      ticks(1);
    }
  }

  Arena arena;
  Parking parking{clock, Partition(0)};
  Takeover takeover{application, clock, shelf, parking, Partition(0)};
  TakeoverQuestions questions{application, clock};
  std::unique_ptr<kafka::Consumer> consumer;
  std::unique_ptr<kafka::Producer> producer;
  std::unique_ptr<kafka::LogReader> reader;
  std::unique_ptr<changelog::Restorer> restorer;
};

TEST_F(OvertakenTakeover, DoesNotParkBecauseCompactionMovedTheMetaRowBehindTheEndThatItKnew) {
  aim();
  write({identity_row(), targets_row(), meta_row()});
  write({meta_row()});
  broker.compact(changelog_of_application().value(), 0);
  while (takeover.store()->rows() < 2) read(1);
  ASSERT_FALSE(takeover.store()->meta()) << "the older one is gone, the newer one not read yet";
  go_on();
  EXPECT_FALSE(parking.parked());
  EXPECT_EQ(takeover.phase(), Phase::kReady);
}

TEST_F(OvertakenTakeover, ParksWhereTheChangelogEndsWithoutAMetaRow) {
  aim();
  write({identity_row(), targets_row()});
  read(100);
  go_on();
  EXPECT_EQ(parking.why(), Parked::kNoMetaRow);
}

}  // namespace
}  // namespace reseq::runtime
