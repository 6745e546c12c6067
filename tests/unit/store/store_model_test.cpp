// Random histories against a map: whatever is applied, checkpointed, closed or killed, the store answers as the map
// does.
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

#include "rows.h"

namespace reseq::store {
namespace {

using Rows = std::map<std::string, std::string>;  // key -> value

std::optional<codec::DocumentRow> decoded(const std::string& key, const std::string& value) {
  auto row = codec::decode_row(key, value);
  if (auto* found = std::get_if<codec::DocumentRow>(&row)) return *found;
  return std::nullopt;
}

class Model {
 public:
  explicit Model(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 60; ++i) ids_.push_back("doc-" + std::to_string(i));
    for (int i = 0; i < 8; ++i) ids_.push_back(std::string(static_cast<std::size_t>(i % 4), '\0') + "z\0\xff"[i % 3]);
    for (int i = 0; i < 12; ++i)
      ids_.push_back(std::string(500 + 300U * static_cast<unsigned>(i), 'l') + std::to_string(i));
    reopen();
    commit_rows({identity_row()});
  }

  void step() {
    const auto dice = random_() % 100;
    if (dice < 50) {
      commit_rows(random_rows(1 + random_() % 8));
    } else if (dice < 75) {
      restore_one();
    } else if (dice < 82) {
      ASSERT_TRUE(store_->write_checkpoint().ok());
      durable_ = rows_;
      position_ = *store_->position();
    } else if (dice < 85) {
      for (auto steps = random_() % 6; steps > 0 && store_->wants_compaction(); --steps) {
        const auto compacted = store_->compact();
        ASSERT_TRUE(compacted.ok()) << compacted.error().message;
        compacted_ += compacted.value() ? 1 : 0;
      }
    } else if (dice < 88) {
      // In the middle of a transaction the checkpoint before it is worth more.
      const bool last_kept =
          store_->checkpoint()->generation == 0 && store_->checkpointed() && store_->checkpointed()->generation != 0;
      const Offset position = *store_->position();
      ASSERT_TRUE(store_->close_clean().ok());
      if (last_kept) {
        rows_ = durable_;
      } else {
        durable_ = rows_;
        position_ = position;
      }
      reopen();
      EXPECT_EQ(store_->found(), StateFolder::Copy::kClean);
    } else if (dice < 91) {
      rows_ = durable_;  // killed: what the last checkpoint did not say is read from the changelog again
      reopen();
      EXPECT_NE(store_->found(), StateFolder::Copy::kOtherBoot);
      if (rows_.empty()) {
        commit_rows({identity_row()});
      } else {
        EXPECT_EQ(store_->position(), position_);
      }
    } else {
      check();
    }
  }

  [[nodiscard]] int compacted() const { return compacted_; }

  void check() {
    check_finds();
    check_sums();
    check_due();
    check_sweep();
    check_scan();
    for (int i = 0; i < 8; ++i) check_index();
    ASSERT_FALSE(store_->fault().has_value()) << store_->fault()->message;
  }

 private:
  void reopen() {
    store_.reset();
    store_ = place_.must_open(
        {.map_bytes = 64U << 10, .compaction = {.file_bytes_min = 1, .times_used = 1, .step_bytes = 30'000}});
    ASSERT_NE(store_, nullptr);
  }

  std::vector<Encoded> random_rows(std::size_t count) {
    std::map<std::string, Encoded> rows;
    for (std::size_t i = 0; i < count; ++i) {
      if (random_() % 2 == 0) {
        for (Encoded& row : rows_of_gates()) rows[row.key] = std::move(row);
        continue;
      }
      const std::string& id = ids_[random_() % ids_.size()];
      Encoded row = document(id, random_row());
      if (codec::key_is_hashed(id) && random_() % 4 == 0)
        row = forged(id, id.substr(0, id.size() - 1) + "x", random_row());
      if (random_() % 4 == 0) row.value.clear();
      rows[row.key] = row;
    }
    std::vector<Encoded> list;
    for (auto& [key, row] : rows) list.push_back(row);
    return list;
  }

  // Of one held record or task.
  std::vector<Encoded> rows_of_gates() {
    const std::string rank = "rank-" + std::to_string(random_() % 20);
    std::vector<Encoded> rows = {task(rank, std::to_string(random_() % 1000))};
    if (random_() % 5 != 0) {
      Entries entries;
      for (std::size_t left = random_() % 4; left > 0; --left) {
        const std::uint8_t index = kIndexNumbers[random_() % std::size(kIndexNumbers)];
        entries.emplace_back(index, random_entry(index));
      }
      rows = held(rank, entries, random_() % 4 == 0 ? random_() % 10'000 : random_() % 20);
    }
    const bool gone = random_() % 4 == 0;
    for (Encoded& row : rows)
      if (gone || random_() % 8 == 0) row.value.clear();
    std::shuffle(rows.begin(), rows.end(), random_);
    return rows;
  }

  // Few, so that rows share them. Those of the last index have many lengths.
  std::string random_entry(std::uint8_t index) {
    const char last = "\0am\x7f\x80\xff"[random_() % 6];
    if (index == kIndexNumbers[1]) return "";
    return std::string(index == kIndexNumbers[0] ? 1 : random_() % 10, last);
  }

  Row random_row() {
    const auto deadline = static_cast<std::int64_t>(random_() % 3 == 0 ? 0 : random_() % 50);
    const std::uint64_t sequence = random_() % 1000;
    const bool is_live = random_() % 2 == 0;
    Row row = is_live ? live(sequence, deadline, random_() % 5 == 0) : watermark(sequence, deadline);
    if (random_() % 3 != 0) return row;
    const auto priority = [this] { return static_cast<std::uint8_t>(random_() % 4 * 85); };
    if (random_() % 2 == 0) row.journal.push_back(waiting(sequence + 1, priority()));
    if (row.live() && !is_live) row.deadline = UnixMs();
    if (is_live && random_() % 2 == 0)
      row.journal.push_back(processing(sequence, priority(), static_cast<std::int64_t>(random_() % 3)));
    return row;
  }

  static Change change_of(const Encoded& row) { return row.value.empty() ? row.gone() : row.put(); }
  void remember(const Encoded& row) {
    if (row.value.empty()) {
      rows_.erase(row.key);
    } else {
      rows_[row.key] = row.value;
    }
  }

  void commit_rows(const std::vector<Encoded>& rows) {
    std::vector<Change> changes;
    for (const Encoded& row : rows) changes.push_back(change_of(row));
    const BatchView view(*store_);
    if (random_() % 2 == 0)
      for (Change& change : changes) look_up(view, change);
    const Encoded meta = meta_row(meta_of(1));
    changes.push_back(meta.put());
    commit(*store_, changes);
    for (const Encoded& row : rows) remember(row);
  }

  // As a batch does before it changes a document.
  void look_up(const BatchView& view, Change& change) const {
    const auto id = std::find_if(ids_.begin(), ids_.end(),
                                 [&](const std::string& one) { return document(one, live(1)).key == change.key; });
    if (id == ids_.end()) return;  // a row of another kind
    const LookedUp& known = view.at(view.find(*id).place);
    EXPECT_EQ(known.key, change.key);
    change.looked_up = &known;
  }

  void restore_one() {
    const Encoded row = random_rows(1).front();
    ASSERT_TRUE(restore_next(*store_, change_of(row)).ok());
    remember(row);
  }

  void check_finds() {
    for (const std::string& id : ids_) {
      const std::string key = document(id, live(1)).key;
      const auto expected = rows_.find(key);
      const auto found = find(*store_, id);
      const auto row = expected == rows_.end() ? std::nullopt : decoded(key, expected->second);
      const bool other = row && row->id != id;
      EXPECT_EQ(found.collision, other);
      EXPECT_EQ(found.row, row && !other ? std::optional(row->row) : std::nullopt);
    }
  }

  // Any prefix of some key, from anywhere, so many rows.
  void check_scan() {
    std::vector<std::string> keys;
    for (const auto& [key, value] : rows_) keys.push_back(key);
    const auto any_key = [&] { return keys[random_() % keys.size()]; };
    const std::string of = any_key();
    const std::string prefix = of.substr(0, 1 + random_() % of.size());
    const std::string cursor = random_() % 2 == 0 ? std::string() : any_key();
    const std::size_t max = random_() % 20;
    Rows expected;
    for (const auto& [key, value] : rows_)
      if (key.starts_with(prefix) && key > cursor && expected.size() < max) expected.emplace(key, value);
    Rows found;
    std::string last;
    store_->scan(prefix, cursor, max, [&](std::string_view key, std::string_view value) {
      EXPECT_GT(key, last);
      last = key;
      found.emplace(key, value);
      return true;
    });
    EXPECT_EQ(found, expected);
    const std::string one = any_key();
    EXPECT_EQ(store_->row(one), std::optional<std::string_view>(rows_.at(one)));
  }

  // Any index, from anywhere, so many entries; the visit may end it.
  void check_index() {
    const auto index =
        random_() % 6 == 0 ? kOtherIndexes[random_() % 2] : kIndexNumbers[random_() % std::size(kIndexNumbers)];
    const std::string from = random_() % 3 == 0 ? std::string() : random_entry(index);
    const std::size_t max = random_() % 3 == 0 ? SIZE_MAX : random_() % 12;
    const std::size_t visits_max = random_() % 3 == 0 ? 1 + random_() % 12 : SIZE_MAX;
    std::set<std::tuple<std::size_t, std::string, std::string>> all;  // shorter entries first
    for (const auto& [key, value] : rows_) {
      if (const auto lease_until = lease_of_row(key, value); lease_until && index == codec::kLeaseIndex) {
        std::string entry;
        append_big_endian(*lease_until, entry);
        if (std::pair(entry.size(), entry) >= std::pair(from.size(), from)) all.emplace(entry.size(), entry, key);
      }
      if (codec::parse_key(key)->type != codec::KeyType::kHeld) continue;
      codec::each_index_entry(value, [&, row = key](std::uint8_t of, std::string_view entry) {
        if (of == index && std::pair(entry.size(), entry) >= std::pair(from.size(), std::string_view(from)))
          all.emplace(entry.size(), entry, row);
      });
    }
    Found expected;
    for (const auto& [bytes, entry, row] : all) expected.emplace_back(entry, row);
    expected.resize(std::min({expected.size(), max, visits_max}));
    Found found;
    store_->index(index, from, max, [&](std::string_view entry, std::string_view key) {
      found.emplace_back(entry, key);
      return found.size() < visits_max;
    });
    EXPECT_EQ(found, expected) << "index " << int{index} << " from '" << from << "' " << max << " " << visits_max;
  }

  static std::optional<std::uint64_t> lease_of_row(const std::string& key, const std::string& value) {
    const auto row = decoded(key, value);
    if (!row) return std::nullopt;
    for (const JournalEntry& entry : row->row.journal)
      if (entry.lease_until != UnixMs()) return static_cast<std::uint64_t>(entry.lease_until.value());
    return std::nullopt;
  }

  static void count(codec::KeyType type, const std::string& value, Counts& counts) {
    if (type == codec::KeyType::kTask) ++counts[Count::kTasks];
    if (type == codec::KeyType::kHeld) ++counts[Count::kHeldRecords];
    if (type == codec::KeyType::kPiece) ++counts[Count::kHeldPieces];
    if (type == codec::KeyType::kHeld || type == codec::KeyType::kPiece) counts[Count::kHeldBytes] += value.size();
  }

  void check_sums() {
    Summary sum;
    std::map<std::uint8_t, PriorityCount> priorities;
    TargetSet pending;
    for (const auto& [key, value] : rows_) {
      sum.digest = codec::add(sum.digest, store_->hash().of_record(key, value));
      const codec::KeyType type = codec::parse_key(key)->type;
      count(type, value, sum.counts);
      if (type != codec::KeyType::kDocument) continue;
      const auto row = decoded(key, value);
      ++sum.counts[row->row.live() ? Count::kLiveRows : Count::kWatermarks];
      pending |= row->row.pending();
      if (row->row.waits()) ++sum.counts[Count::kWaiting];
      if (row->row.processing()) ++sum.counts[Count::kProcessing];
      for (const JournalEntry& entry : row->row.journal) {  // one of each state at most
        if (entry.state == EntryState::kWaiting) pending |= entry.targets;
        if (entry.state != EntryState::kWaiting && !entry.takes_room()) continue;
        PriorityCount& one = priorities[entry.urgency.priority];
        one.priority = entry.urgency.priority;
        ++(entry.state == EntryState::kWaiting ? one.waiting : one.processing);
      }
    }
    for (const auto& [priority, one] : priorities) sum.priorities.push_back(one);
    EXPECT_EQ(store_->summary(), sum);
    EXPECT_EQ(store_->rows(), rows_.size());
    EXPECT_EQ(pending_targets(*store_), pending);
  }

  void check_due() {
    std::map<std::pair<std::int64_t, std::string>, std::string> timers;
    for (const auto& [key, value] : rows_) {
      if (codec::parse_key(key)->type != codec::KeyType::kDocument) continue;
      const auto row = decoded(key, value);
      if (row->row.completed() || row->row.overdue || row->row.deadline == UnixMs()) continue;
      timers[{row->row.deadline.value(), key}] = row->id;
    }
    const auto earliest = timers.empty() ? std::nullopt : std::optional(UnixMs(timers.begin()->first.first));
    EXPECT_EQ(store_->earliest_deadline(), earliest);
    const auto now = static_cast<std::int64_t>(random_() % 60);
    const std::size_t max = random_() % 30;
    std::vector<std::string> ids;
    for (const auto& [timer, id] : timers)
      if (timer.first <= now && ids.size() < max) ids.push_back(id);
    EXPECT_EQ(store_->due(UnixMs(now), max), ids);
  }

  void check_sweep() {
    const auto now = static_cast<std::int64_t>(random_() % 60);
    const std::size_t piece = 1 + random_() % 20;
    std::vector<std::string> expected;
    for (const auto& [key, value] : rows_) {
      if (codec::parse_key(key)->type != codec::KeyType::kDocument) continue;
      const auto row = decoded(key, value);
      const auto deadline = row->row.deadline.value();
      if (row->row.completed() && deadline != 0 && deadline <= now) expected.push_back(row->id);
    }
    std::vector<std::string> expired;
    std::string cursor;
    do {
      const auto swept = store_->sweep(cursor, piece, UnixMs(now));
      ASSERT_LE(swept.looked_at, piece);
      ASSERT_TRUE(swept.cursor.empty() || swept.cursor > cursor);
      expired.insert(expired.end(), swept.expired_ids.begin(), swept.expired_ids.end());
      cursor = swept.cursor;
    } while (!cursor.empty());
    EXPECT_EQ(expired, expected);
  }

  static constexpr std::uint8_t kIndexNumbers[] = {0, 5, 127};
  static constexpr std::uint8_t kOtherIndexes[] = {9, codec::kLeaseIndex};  // of nothing, of documents

  std::mt19937_64 random_;
  Place place_{"/dev/shm"};
  std::vector<std::string> ids_;
  std::unique_ptr<PartitionStore> store_;
  Rows rows_, durable_;
  Offset position_;
  int compacted_ = 0;
};

class StoreModel : public testing::TestWithParam<std::uint64_t> {};

TEST_P(StoreModel, AnswersAsAMapOfItsRowsDoes) {
  Model model(GetParam());
  for (int i = 0; i < 600 && !testing::Test::HasFailure(); ++i) model.step();
  model.check();
  EXPECT_GT(model.compacted(), 0) << "its file was never written anew";
}

INSTANTIATE_TEST_SUITE_P(Seeds, StoreModel, testing::Range<std::uint64_t>(1, 13));

}  // namespace
}  // namespace reseq::store
