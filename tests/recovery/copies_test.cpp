// A copy on disk that must not be used is thrown away for the right reason, and its partition is as before.
#include <filesystem>
#include <functional>

#include "store/state_folder.h"
#include "tests/recovery/recovering.h"

namespace reseq::test {
namespace {

namespace fs = std::filesystem;

constexpr int kDocuments = 160;
constexpr std::int64_t kEightDaysMs = std::int64_t{8} * 24 * 3600 * 1000;

// What was done to the copy of one partition, and what its process has to say then.
struct Fate {
  std::string decision;
  std::string reason;
  std::function<void(const std::string& folder, const Log& log)> befall;
};

std::string data_file(const std::string& folder) {
  return folder + "/data.mdb";
}

void cut_off(Log& log, std::size_t records) {
  log.resize(log.size() - records);
}

const LogRecord& last_document(const Log& log) {
  for (auto record = log.rbegin(); record != log.rend(); ++record)
    if (record->is_document()) return *record;
  throw std::runtime_error("a partition without documents");
}

// The id of a document in its key: behind type, realm and tag, in front of the terminator.
std::string id_in(const LogRecord& document) {
  return document.key.substr(3, document.key.size() - 5);
}

// To its files and marks.
std::vector<Fate> fates_of_files() {
  return {
      {"reuse", "clean", [](const auto&, const auto&) {}},
      {"reuse", "same_boot", [](const auto& folder, const auto&) { fs::remove(folder + "/clean"); }},
      {"catch_up", "clean", [](const auto& folder, const Log& log) { write_copy(folder, up_to_meta(log, 1)); }},
      {"rebuild", "no_copy", [](const auto& folder, const auto&) { fs::remove_all(folder); }},
      {"rebuild", "other_boot",
       [](const auto& folder, const auto&) {
         EXPECT_TRUE(store::StateFolder::open(folder, "another boot").value()->begin_writing().ok());
       }},
      {"rebuild", "poisoned",
       [](const auto& folder, const auto&) {
         EXPECT_TRUE(store::StateFolder::open(folder, store::boot_id()).value()->poison().ok());
       }},
      {"rebuild", "damaged",  // cut short
       [](const auto& folder, const auto&) {
         fs::resize_file(data_file(folder), fs::file_size(data_file(folder)) / 2);
       }},
      {"rebuild", "damaged",  // LMDB's own pages
       [](const auto& folder, const auto&) { EXPECT_GE(flip_bytes(data_file(folder), "\xDE\xC0\xEF\xBE", 0), 2); }},
      {"rebuild", "damaged",  // the identity
       [](const auto& folder, const auto&) {
         EXPECT_GE(flip_bytes(data_file(folder), std::string("partition\0\0", 11), 12, std::string("I\0\0", 3)), 1);
       }},
  };
}

// To what it says: copies of another life, made with the product's own store.
std::vector<Fate> fates_of_contents() {
  return {
      {"rebuild", "inside_transaction",
       [](const auto& folder, Log log) {
         cut_off(log, 1);
         write_copy(folder, log);
       }},
      {"rebuild", "foreign",
       [](const auto& folder, Log log) {
         log.front() = changed_identity(log.front(), [](Identity& identity) { identity.application_id = "other"; });
         write_copy(folder, log);
       }},
      {"rebuild", "too_old",
       [](const auto& folder, Log log) {
         log.back() = changed_meta(log.back(), [](Meta& meta) { meta.now = UnixMs(meta.now.value() - kEightDaysMs); });
         write_copy(folder, log);
       }},
      {"rebuild", "truncated",
       [](const auto& folder, Log log) {
         log.push_back(log.back());
         log.back().offset += 100;
         write_copy(folder, log);
       }},
      {"rebuild", "record",
       [](const auto& folder, Log log) {
         log.back() = changed_meta(log.back(), [](Meta& meta) { meta.config_hash += 1; });
         write_copy(folder, log);
       }},
      {"rebuild", "lineage",  // where a marker stands in the real log, so that no record can tell
       [](const auto& folder, const Log& log) {
         Log other = up_to_meta(log, metas_of(log) - 1);
         other.back() = changed_meta(other.back(), [](Meta& meta) { meta.lineage.push_back({99, Offset(0)}); });
         other.back().offset += 1;
         write_copy(folder, other);
       }},
      {"rebuild", "digest",
       [](const auto& folder, Log log) {
         const std::string key = last_document(log).key;
         std::erase_if(log, [&](const LogRecord& record) { return record.key == key; });
         write_copy(folder, log);
       }},
      {"rebuild", "fault",  // found when the row is read
       [](const auto& folder, const Log& log) {
         const std::string id = id_in(last_document(log)) + std::string(2, '\0');
         EXPECT_GE(flip_bytes(data_file(folder), id, 6, std::string("D\0\0", 3)), 1);
       }},
  };
}

// By partition. The order is that of docs/recovery.md.
const std::vector<Fate>& fates() {
  static const std::vector<Fate> kFates = [] {
    std::vector<Fate> all = fates_of_files();
    for (Fate& fate : fates_of_contents()) all.push_back(std::move(fate));
    return all;
  }();
  return kFates;
}

class Copies : public Recovering {};

TEST_F(Copies, ThatCannotBeTrustedAreRebuiltAndTheReasonIsTold) {
  init(static_cast<int>(fates().size()));
  live(kDocuments);
  for (std::size_t i = 0; i < fates().size(); ++i) {
    const int partition = static_cast<int>(i);
    fates()[i].befall(copy_of(partition), changelog.at(partition));
  }

  start();
  for (int p = 0; p < partitions_; ++p) expect_says(p, "takeover=ready");
  process_documents(2);
  for (int p = 0; p < partitions_; ++p) {
    const Fate& fate = fates()[static_cast<std::size_t>(p)];
    expect_says(p, "takeover=restore decision=" + fate.decision + " reason=" + fate.reason + " offsets_to_read=");
    const bool rebuilt = fate.decision == "rebuild";
    expect_says(p, "takeover=ready recovery=" + (rebuilt ? "rebuild reason=" + fate.reason : "reuse reason=none"));
  }
  stop();

  start();
  for (int p = 0; p < partitions_; ++p) expect_says(p, "decision=reuse reason=clean offsets_to_read=2 ");
  stop();
}

// Reading behind the new end of the file is a SIGBUS, or the next checkpoint makes it long again: both may be.
TEST_F(Copies, ThatIsCutShortUnderItsProcessIsRebuiltByTheNextOne) {
  init(1, "checkpoint_interval_ms = 200\n");
  live(50);
  start();
  expect_says(0, "takeover=ready");
  fs::resize_file(data_file(copy_of(0)), 4096);
  send_all("requests", {{"reseq-seq", "2"}}, "2");
  const bool died = wait_until(std::chrono::seconds(5), [&] { return !process->running(); });
  if (died) {
    EXPECT_EQ(process->wait(kLimitMs), 128 + SIGBUS);
    start();
    expect_says(0, "takeover=ready recovery=rebuild reason=poisoned");
  }
  wait_for_records("work", 100);
  send_all("commands", {{"reseq-command", "sequence"}, {"reseq-seq", "2"}}, "2");
  wait_for_records("output.search", 100);
  stop();
}

TEST_F(Copies, ThatIsCutShortBetweenTwoProcessesIsRebuilt) {
  init(1, "checkpoint_interval_ms = 200\n");
  live(50);
  start();
  expect_says(0, "takeover=ready");
  stop();
  fs::resize_file(data_file(copy_of(0)), 8192);
  start();
  expect_says(0, "takeover=ready recovery=rebuild reason=damaged");
  stop();
}

// Another process that is about to end still has the folder.
TEST_F(Copies, ThatSomebodyElseHasAreWaitedFor) {
  init(1);
  live(5);
  auto held = store::StateFolder::open(copy_of(0), store::boot_id());
  ASSERT_TRUE(held.ok());
  start();
  expect_says(0, "takeover=open waiting=copy_unavailable seconds=5 ");
  held = Error{};
  expect_says(0, "takeover=ready recovery=reuse");
  process_documents(2);
  stop();
}

}  // namespace
}  // namespace reseq::test
