// Every state that needs a person is brought about on a real broker, and the steps of docs/recovery.md lead out of it.
#include <algorithm>
#include <filesystem>
#include <map>

#include "store/state_folder.h"
#include "tests/recovery/kafka_tools.h"
#include "tests/recovery/recovering.h"
#include "tests/recovery/stranger.h"

namespace reseq::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Partitions of ParkedTest, by what happens to them.
enum At : int {
  kOffsetsMoved,
  kOffsetsAhead,
  kInputDeleted,
  kEmptied,
  kEmptiedWithoutCopy,
  kBeginningDeleted,
  kForeignRecord,
  kRowRemoved,
  kLinkedFolder,
  kHealthy,
  kPartitions
};

class ParkedTest : public Recovering {
 protected:
  // Version of the newest release of each document, and its sequence.
  std::map<std::string, Released> newest() {
    std::map<std::string, Released> last;
    for (const Released& one : insist([&] { return read_outputs(shop.connection(), shop.topic("output.search")); })) {
      const auto before = last.find(one.id);
      if (before == last.end() || before->second.version < one.version) last[one.id] = one;
    }
    return last;
  }

  void seek(int partition, const std::string& to) {
    const Ran ran = shop.run({"seek", "--partition", std::to_string(partition), "--requests", to});
    EXPECT_EQ(ran.code, EX_OK) << ran.text;
  }

  // The page's steps, from a stopped application on.
  void begin_anew() {
    const auto admin = kafka::Admin::open(shop.connection());
    const std::string topic = shop.topic("changelog");
    ASSERT_TRUE(admin.value()->delete_topics({&topic, 1}, Milliseconds(kLimitMs)).ok());
    tools.delete_group(shop.application_id());
    ASSERT_EQ(shop.run({"init"}).code, EX_OK);
    fs::rename(shop.state_dir, shop.path("old-state"));
  }

  void damage_logs() {
    const std::string log = shop.topic("changelog");
    const auto producer = kafka::PlainProducer::open(shop.connection());
    ASSERT_TRUE(producer.ok());
    for (int i = 0; i < 3; ++i)
      ASSERT_TRUE(
          producer.value()->send(shop.topic("requests"), "never-read", "x", {}, {}, Partition(kInputDeleted)).ok());
    ASSERT_TRUE(producer.value()->send(log, "foreign", "record", {}, {}, Partition(kForeignRecord)).ok());
    for (const LogRecord& record : changelog.at(kRowRemoved))
      if (record.is_document()) {
        ASSERT_TRUE(producer.value()->send(log, record.key, std::nullopt, {}, {}, Partition(kRowRemoved)).ok());
        break;
      }
    ASSERT_TRUE(producer.value()->flush(Milliseconds(kLimitMs)).ok());
    // Brokers protect compacted topics from this: whoever does it has to mean it.
    const Log beginning = up_to_meta(changelog.at(kBeginningDeleted), 2);
    tools.configure_topic(log, "cleanup.policy=delete");
    tools.delete_records({{shop.topic("requests"), kInputDeleted},
                          {log, kEmptied},
                          {log, kEmptiedWithoutCopy},
                          {log, kBeginningDeleted, beginning.back().offset}});
    tools.configure_topic(log, "cleanup.policy=compact");
  }

  void expect_check_to_find_lost_changelogs() {
    const Ran checked = shop.run({"check"});
    EXPECT_EQ(checked.code, EX_CONFIG);
    for (const char* finding :
         {"partition 3: the changelog is empty, but", "partition 4: the changelog has no records, but offset",
          "partition 5: the changelog begins without", "partition 6: changelog: record at offset"})
      EXPECT_THAT(checked.text, HasSubstr(finding));
  }

  void expect_each_parked() {
    start();
    expect_says(kHealthy, "takeover=ready recovery=reuse");
    expect_says(kOffsetsMoved, "parked reason=offsets_moved minutes=0 detail=");
    expect_says(kOffsetsMoved, "requests committed 0, state ");
    expect_says(kInputDeleted, "parked reason=input_unreadable");
    expect_says(kEmptied, "parked reason=changelog_empty");
    expect_says(kEmptiedWithoutCopy, "parked reason=no_meta_row");
    expect_says(kBeginningDeleted, "recovery=rebuild reason=log_start");
    expect_says(kBeginningDeleted, "parked reason=changelog_unreadable");
    expect_says(kForeignRecord, "parked reason=changelog_unreadable");
    expect_says(kRowRemoved, "recovery=rebuild reason=digest");
    expect_says(kRowRemoved, "parked reason=changelog_unfit");
    expect_says(kLinkedFolder, "parked reason=state_folder");
    expect_says(kOffsetsAhead, "parked reason=offsets_ahead");
  }

  // Of those that can go on with the state they have, and of one that begins anew without the others.
  void follow_the_steps() {
    tools.delete_offsets(shop.application_id(), {shop.topic("requests"), shop.topic("control"), shop.topic("commands")},
                         kEmptiedWithoutCopy);
    seek(kOffsetsMoved, "standing");
    seek(kOffsetsAhead, "standing");
    seek(kInputDeleted, "begin");
    fs::remove(copy_of(kLinkedFolder));
    fs::rename(shop.path("elsewhere"), copy_of(kLinkedFolder));
    start();
    for (const int p : {kOffsetsMoved, kOffsetsAhead, kInputDeleted, kLinkedFolder}) expect_says(p, "takeover=ready");
    expect_says(kEmptiedWithoutCopy, "takeover=born");
    for (const int p : {kEmptied, kBeginningDeleted, kForeignRecord, kRowRemoved}) expect_says(p, "parked reason=");
    stop();
  }

  KafkaTools tools{Broker::shared().bootstrap_servers()};
};

TEST_F(ParkedTest, PartitionsWaitForTheirStepsAndGoOnAfterThem) {
  shop.tables += "[kafka]\n\"topic.metadata.refresh.interval.ms\" = 500\n";
  init(kPartitions);
  live(100);
  const auto before = newest();
  ASSERT_EQ(before.size(), 100U);
  damage_logs();
  write_copy(copy_of(kBeginningDeleted), up_to_meta(changelog.at(kBeginningDeleted), 1));
  fs::remove_all(copy_of(kEmptiedWithoutCopy));
  fs::rename(copy_of(kLinkedFolder), shop.path("elsewhere"));
  fs::create_symlink(shop.path("elsewhere"), copy_of(kLinkedFolder));
  Stranger::commit_by_hand(shop, kPartitions, {{kOffsetsMoved, 0}, {kOffsetsAhead, 1'000}});

  expect_check_to_find_lost_changelogs();
  expect_each_parked();
  stop();
  EXPECT_TRUE(fs::exists(copy_of(kEmptied) + "/data.mdb")) << "may have been all that was left";

  follow_the_steps();
  begin_anew();
  start();
  for (int p = 0; p < kPartitions; ++p) expect_says(p, "takeover=born");
  send_all("requests", {{"reseq-seq", "7"}}, "7");
  send_all("commands", {{"reseq-command", "sequence"}, {"reseq-seq", "7"}}, "7");
  EXPECT_TRUE(wait_with_pauses([&] {
    const auto now = newest();
    return std::all_of(now.begin(), now.end(), [](const auto& one) { return one.second.sequence == 7; });
  })) << "an older result has the highest version";
  for (const auto& [id, one] : newest()) EXPECT_GT(one.version, before.at(id).version) << id;

  tools.add_partitions(shop.topic("requests"), kPartitions + 1);
  expect_says(kPartitions, "parked reason=topic_grew");
  stop();
  EXPECT_EQ(shop.run({"run"}).code, EX_CONFIG) << "keys have moved away from their rows";
}

// Deleted while the partition waits to be taken over; created anew by somebody who wanted to help.
TEST_F(ParkedTest, AChangelogThatWasDeletedIsNotTakenForABeginning) {
  init(1);
  live(20);
  auto held = store::StateFolder::open(copy_of(0), store::boot_id());
  ASSERT_TRUE(held.ok());
  start();
  expect_says(0, "waiting=copy_unavailable");
  const auto admin = kafka::Admin::open(shop.connection());
  const std::string topic = shop.topic("changelog");
  ASSERT_TRUE(admin.value()->delete_topics({&topic, 1}, Milliseconds(kLimitMs)).ok());
  held = Error{};
  expect_says(0, "waiting=changelog_ends");
  ASSERT_EQ(shop.run({"init"}).code, EX_OK);
  expect_says(0, "parked reason=changelog_empty");
  stop();

  // The offsets go too, and something that was never committed makes the log longer: still no beginning.
  tools.delete_group(shop.application_id());
  Stranger stranger(shop);
  stranger.begin();
  stranger.write_to_changelog(0);
  stranger.abort();
  start();
  expect_says(0, "recovery=rebuild reason=truncated");
  expect_says(0, "parked reason=state_gone");
  stop();
  start();
  expect_says(0, "takeover=born");
  stop();
}

TEST_F(ParkedTest, APartitionWhoseTransactionsAlwaysAbortIsFound) {
  init(1);
  live(5);
  start();
  expect_says(0, "takeover=ready");
  const std::string output = shop.topic("output.search");
  tools.configure_topic(output, "max.message.bytes=2000");
  const std::string large(10'000, 'x');
  shop.send("requests", id(0), {{"reseq-seq", "2"}}, "2");
  shop.send("commands", id(0), {{"reseq-command", "sequence"}, {"reseq-seq", "2"}}, large);
  expect_says(0, "parked reason=keeps_aborting");
  const Ran asked = shop.run({"describe", id(0)});
  EXPECT_EQ(asked.code, EX_UNAVAILABLE);
  EXPECT_THAT(asked.last_line, testing::AllOf(testing::HasSubstr("parked: 0 (keeps_aborting: "),
                                              testing::HasSubstr("resequencer check")));
  stop();
  tools.configure_topic(output, "max.message.bytes=1048588");
  start();
  wait_for_records("output.search", 6);
  stop();
}

}  // namespace
}  // namespace reseq::test
