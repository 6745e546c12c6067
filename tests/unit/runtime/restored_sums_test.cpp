// What a changelog says of a journal is compared with what its rows add up to, before anybody trusts the state.
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "changelog/batch_rows.h"
#include "changelog/restorer.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "runtime/takeover/parking.h"
#include "runtime/takeover/takeover.h"
#include "runtime/takeover/takeover_questions.h"
#include "simulated_application.h"

namespace reseq::runtime {
namespace {

using test::good;

class RestoredSums : public SimulatedApplication {
 protected:
  RestoredSums() {
    consumer = good(kafka->consumer(application.topics.of(Role::kRequests)));
    reader = good(kafka->log_reader());
    restorer = std::make_unique<changelog::Restorer>(*reader, application.topics.of(Role::kChangelog),
                                                     changelog::MemoryLimit{1'000, 1'000'000});
    producer = good(kafka->producer());
    good(producer->init(simulation::kLimit));
    good(producer->begin());
    identity.application_id = "app";
    identity.partitions = 1;
    write(changelog::identity_row(identity, arena));
    write(changelog::targets_row(TargetTable({"search"}), arena));
  }

  // Its bytes live until the commit.
  void write(const store::Change& row) {
    good(producer->produce({.topic = application.topics.of(Role::kChangelog),
                            .partition = Partition(0),
                            .key = row.key,
                            .payload = row.value}));
    if (row.key != codec::meta_key())
      good(written.restore(row, Offset(written.position().value_or(Offset(0)).value() + 1)));
  }
  void write_document(const std::string& id, EntryState state, std::uint8_t priority) {
    Row row;
    row.groups.push_back({{Epoch(), Sequence::of_number(7), Revision()}, true, TargetSet(1), {}, {}});
    JournalEntry entry;
    entry.order = {Epoch(), Sequence::of_number(7), Revision()};
    entry.state = state;
    entry.targets = TargetSet(1);
    entry.number = 1;
    entry.urgency.priority = priority;
    entry.attempt = 1;
    if (state == EntryState::kProcessing) entry.lease_until = UnixMs(1);
    row.journal.push_back(entry);
    const std::string key = document_key(id);
    std::string value;
    codec::encode_row(key, id, row, value);
    write({arena.copy(key), arena.copy(value)});
  }
  std::string document_key(const std::string& id) const {
    std::string key;
    codec::append_document_key(id, codec::KeyedHash(identity.hash_key), key);
    return key;
  }

  // Why the state was thrown away that ends with a meta row which says the sums of its rows, changed.
  Rebuild rebuilt_after(const std::function<void(Summary&)>& change) {
    Meta meta;
    meta.lineage = {{1, Offset(0)}};
    meta.summary = written.summary();
    change(meta.summary);
    write(changelog::meta_row(meta, arena));
    good(producer->commit(simulation::kLimit));
    for (int i = 0; i < 100 && !parking.parked(); ++i) {
      takeover.step(*restorer);
      questions.ask({&takeover}, *consumer, *restorer);
      for (const auto& failure : good(restorer->step(100, Milliseconds(0)))) ADD_FAILURE() << failure.error.message;
      ticks(1);
    }
    EXPECT_TRUE(parking.parked());
    return takeover.rebuilt();
  }

  Arena arena;
  Identity identity;
  store::PartitionStore written;
  Parking parking{clock, Partition(0)};
  Takeover takeover{application, clock, shelf, parking, Partition(0)};
  TakeoverQuestions questions{application, clock};
  std::unique_ptr<kafka::Consumer> consumer;
  std::unique_ptr<kafka::Producer> producer;
  std::unique_ptr<kafka::LogReader> reader;
  std::unique_ptr<changelog::Restorer> restorer;
};

class RestoredJournal : public RestoredSums {
 protected:
  RestoredJournal() {
    write_document("a", EntryState::kWaiting, 5);
    write_document("b", EntryState::kProcessing, 9);
    write_document("c", EntryState::kWaiting, 9);
  }
};

TEST_F(RestoredJournal, IsTrustedWhenItIsWhatItsRowsAddUpTo) {
  EXPECT_EQ(rebuilt_after([](const Summary& summary) {
              EXPECT_EQ(summary.priorities, (std::vector<PriorityCount>{{5, 1, 0}, {9, 1, 1}}));
            }),
            Rebuild::kNoCopy);
  EXPECT_EQ(parking.why(), Parked::kIdentity) << "of another cluster, which is asked later";
}

TEST_F(RestoredJournal, IsNotTrustedWithACountOfOneMore) {
  EXPECT_EQ(rebuilt_after([](Summary& summary) { ++summary.counts[Count::kWaiting]; }), Rebuild::kDigest);
  EXPECT_EQ(parking.why(), Parked::kChangelogUnfit);
}

TEST_F(RestoredJournal, IsNotTrustedWithAnotherPriority) {
  EXPECT_EQ(rebuilt_after([](Summary& summary) { summary.priorities.front().priority = 6; }), Rebuild::kDigest);
  EXPECT_EQ(parking.why(), Parked::kChangelogUnfit);
}

TEST_F(RestoredJournal, IsNotTrustedWithoutItsPriorities) {
  EXPECT_EQ(rebuilt_after([](Summary& summary) { summary.priorities.clear(); }), Rebuild::kDigest);
  EXPECT_EQ(parking.why(), Parked::kChangelogUnfit);
}

}  // namespace
}  // namespace reseq::runtime
