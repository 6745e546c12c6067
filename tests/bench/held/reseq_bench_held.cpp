// reseq-bench-held: what a held record costs (docs/performance-journal.md).
//   reseq-bench-held [--bytes N] [--restore N] [--rounds N]
// --bytes   of all bodies of one size together (256 MiB)
// --restore how many held records of 1 KB are restored (1000000; 0 = none)
// --rounds  of the churn (100; 0 = none)
// CPU time is that of this thread.
// Thread rule: one thread.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "base/big_endian.h"
#include "changelog/batch_rows.h"
#include "codec/held_rows.h"
#include "codec/keys.h"
#include "store/batch_view.h"
#include "tests/bench/micro/samples.h"
#include "tests/support/good.h"
#include "tests/support/process.h"

namespace reseq::bench {
namespace {

using test::good;

constexpr std::size_t kBatchBytes = std::size_t{8} << 20U;
constexpr std::uint64_t kCheckpointRows = 65'536;  // as without a configuration
constexpr std::uint64_t kCheckpointBytes = std::uint64_t{12} << 20U;

double cpu_us() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

double wall_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string rank_of(std::uint64_t number) {
  std::string rank;
  append_big_endian(number, rank);
  return rank;
}

// The state of a partition that holds records, on a disk.
class Holder {
 public:
  explicit Holder(const std::string& folder, std::size_t body) : body_(body, 'x') {
    store_ = good(store::PartitionStore::open(good(store::StateFolder::open(folder, "boot")), {}));
    Rows rows;
    rows.add_identity();
    apply(rows.all());
  }

  // Records [first, end) as one batch.
  void hold(std::uint64_t first, std::uint64_t end) {
    const double begin = cpu_us();
    Arena arena;
    std::vector<KeyedChange> rows;
    for (std::uint64_t number = first; number < end; ++number) {
      const std::string rank = rank_of(number);
      const std::string key = codec::held_key(255, rank);
      Hold hold;
      hold.key = key;
      hold.entries = {{127, rank}};
      hold.note = "a note of some forty bytes, as a gate has it";
      codec::append_held(hold, record(number), store_->hash(), arena, rows);
    }
    apply(rows);
    hold_us += cpu_us() - begin;
    for (const KeyedChange& row : rows) changelog_bytes += row.key.size() + (row.value ? row.value->size() : 0);
    changelog_rows += rows.size();
    checkpoint_when_due();
  }

  // They leave: read, and their rows removed.
  void let_through(std::uint64_t first, std::uint64_t end) {
    const double begin = cpu_us();
    Arena arena;
    std::vector<KeyedChange> rows;
    const codec::FindRow row = [&](std::string_view key) { return store_->row(key); };
    for (std::uint64_t number = first; number < end; ++number) {
      const std::string key = codec::held_key(255, rank_of(number));
      const auto decoded = codec::decode_held(key, *row(key));
      const auto& held = std::get<codec::HeldRow>(decoded);
      const auto record = codec::held_record(key, held, row, arena);
      RESEQ_ASSERT(record && record->payload->size() == body_.size(), "a held record that is not whole");
      rows.push_back({arena.copy(key), std::nullopt});
      for (std::uint32_t piece = 1; piece <= held.further_pieces; ++piece)
        rows.push_back({arena.copy(codec::piece_key(key, piece)), std::nullopt});
    }
    apply(rows);
    leave_us += cpu_us() - begin;
    for (const KeyedChange& gone : rows) tombstone_bytes += gone.key.size();
    checkpoint_when_due();
  }

  void checkpoint() {
    const double begin = wall_ms();
    good(store_->write_checkpoint());
    checkpoint_ms += wall_ms() - begin;
  }
  [[nodiscard]] store::Environment::Size disk() const { return *store_->disk_size(); }
  [[nodiscard]] const store::PartitionStore& store() const { return *store_; }

  double hold_us = 0;
  double leave_us = 0;
  double checkpoint_ms = 0;
  std::uint64_t changelog_bytes = 0;
  std::uint64_t changelog_rows = 0;
  std::uint64_t tombstone_bytes = 0;

 private:
  [[nodiscard]] codec::InputRecord record(std::uint64_t number) {
    id_ = "document/" + std::to_string(number);
    headers_ = {{"reseq-seq", "1234567"}, {"trace", "0123456789abcdef"}};
    codec::InputRecord record;
    record.offset = Offset(static_cast<std::int64_t>(number));
    record.timestamp = UnixMs(1'700'000'000'000);
    record.key = id_;
    record.payload = body_;
    record.headers = headers_;
    return record;
  }
  void apply(const std::vector<KeyedChange>& rows) {
    std::vector<store::Change> changes;
    changelog::append_rows(rows, changes);
    apply(changes);
  }
  void apply(const std::vector<store::Change>& changes) {
    const Summary after = store_->after(changes);
    const std::int64_t at = store_->position().value_or(Offset(0)).value();
    store_->apply(changes, after, Offset(at + static_cast<std::int64_t>(changes.size())));
  }
  void checkpoint_when_due() {
    if (store_->dirty_rows() >= kCheckpointRows || store_->dirty_bytes() >= kCheckpointBytes) checkpoint();
  }

  std::string body_;
  std::string id_;
  std::vector<Header> headers_;
  std::unique_ptr<store::PartitionStore> store_;
};

void cost_of(const std::string& folder, std::size_t body, std::uint64_t bytes) {
  Holder holder(folder, body);
  const std::uint64_t count = std::max<std::uint64_t>(1, std::min<std::uint64_t>(bytes / body, 500'000));
  const std::uint64_t batch = std::max<std::uint64_t>(1, kBatchBytes / body / 8);
  for (std::uint64_t first = 0; first < count; first += batch) holder.hold(first, std::min(count, first + batch));
  holder.checkpoint();
  const double held_ms = holder.checkpoint_ms;
  const auto full = holder.disk();
  for (std::uint64_t first = 0; first < count; first += batch)
    holder.let_through(first, std::min(count, first + batch));
  holder.checkpoint();
  const auto n = static_cast<double>(count);
  std::printf("%8zu %8llu %9.1f %9.1f %11.0f %8.2f %11.0f %11.0f %11.1f %11.1f\n", body,
              static_cast<unsigned long long>(count), holder.hold_us / n, holder.leave_us / n,
              static_cast<double>(holder.changelog_bytes) / n, static_cast<double>(holder.changelog_rows) / n,
              static_cast<double>(holder.tombstone_bytes) / n,
              static_cast<double>(full.file_bytes - full.free_bytes) / n, held_ms * 1e3 / n,
              (holder.checkpoint_ms - held_ms) * 1e3 / n);
  std::fflush(stdout);
}

// As a restore reads them from the changelog, with its checkpoints.
void restore(const std::string& folder, std::uint64_t count) {
  const auto store = good(store::PartitionStore::open(good(store::StateFolder::open(folder, "boot")), {}));
  Rows first;
  first.add_identity();
  std::int64_t at = 0;
  for (const store::Change& row : first.all()) good(store->restore(row, Offset(at++)));
  const std::string body(1'024, 'x');
  const double begin_cpu = cpu_us();
  const double begin = wall_ms();
  for (std::uint64_t number = 0; number < count; ++number) {
    Arena arena;
    std::vector<KeyedChange> rows;
    const std::string rank = rank_of(number);
    const std::string key = codec::held_key(255, rank);
    const std::string id = "document/" + std::to_string(number);
    Hold hold;
    hold.key = key;
    hold.entries = {{127, rank}};
    codec::InputRecord record;
    record.key = id;
    record.payload = body;
    codec::append_held(hold, record, store->hash(), arena, rows);
    for (const KeyedChange& row : rows) good(store->restore({row.key, row.value}, Offset(at++)));
    if (store->dirty_rows() >= kCheckpointRows || store->dirty_bytes() >= kCheckpointBytes)
      good(store->write_checkpoint());
  }
  good(store->write_checkpoint());
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto disk = *store->disk_size();
  std::printf(
      "restore of %llu records of 1 KB: %.1f s, %.1f s of them CPU, %.0f MB on disk, %.0f MB of memory at most\n",
      static_cast<unsigned long long>(count), (wall_ms() - begin) / 1e3, (cpu_us() - begin_cpu) / 1e6,
      static_cast<double>(disk.file_bytes) / 1e6, static_cast<double>(usage.ru_maxrss) / 1e3);
  std::fflush(stdout);
}

// So many wait at any time; the oldest leave as others come.
void churn(const std::string& folder, std::size_t body, std::uint64_t rounds) {
  constexpr std::uint64_t kWaiting = 20'000;
  constexpr std::uint64_t kRound = 10'000;
  Holder holder(folder, body);
  for (std::uint64_t first = 0; first < kWaiting; first += 1'000) holder.hold(first, first + 1'000);
  holder.checkpoint();
  const double begin = static_cast<double>(holder.disk().file_bytes) / 1e6;
  std::uint64_t next = kWaiting;
  std::uint64_t oldest = 0;
  double most = begin;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::uint64_t i = 0; i < kRound; i += 1'000) {
      holder.hold(next, next + 1'000);
      next += 1'000;
      holder.let_through(oldest, oldest + 1'000);
      oldest += 1'000;
    }
    most = std::max(most, static_cast<double>(holder.disk().file_bytes) / 1e6);
  }
  holder.checkpoint();
  std::printf(
      "churn of %llu times 10000 records of %zu bytes, 20000 waiting: file %.0f MB at first, %.0f MB at most, "
      "%.0f MB of it free in the end\n",
      static_cast<unsigned long long>(rounds), body, begin, most, static_cast<double>(holder.disk().free_bytes) / 1e6);
  std::fflush(stdout);
}

}  // namespace
}  // namespace reseq::bench

int main(int argc, char** argv) {
  CLI::App app("reseq-bench-held: what a held record costs");
  std::uint64_t bytes = std::uint64_t{256} << 20U;
  std::uint64_t restored = 1'000'000;
  std::uint64_t rounds = 100;
  app.add_option("--bytes", bytes, "of all bodies of one size together");
  app.add_option("--restore", restored, "how many held records are restored");
  app.add_option("--rounds", rounds, "of the churn");
  CLI11_PARSE(app, argc, argv);
  const reseq::test::TempDir folder;
  std::printf("%8s %8s %9s %9s %11s %8s %11s %11s %11s %11s\n", "body", "held", "hold us", "leave us", "log bytes",
              "rows", "tombstones", "disk bytes", "write us", "remove us");
  for (const std::size_t body : {200U, 4'096U, 65'536U, 1'048'576U})
    reseq::bench::cost_of(folder.path() + "/" + std::to_string(body), body, bytes);
  if (restored > 0) reseq::bench::restore(folder.path() + "/restore", restored);
  for (const std::size_t body : {200U, 1'024U, 20'000U})
    if (rounds > 0) reseq::bench::churn(folder.path() + "/churn" + std::to_string(body), body, rounds);
}
