#include "tests/judge/copies.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/keys.h"
#include "codec/row_kinds.h"
#include "store/disk_copy.h"
#include "store/timer.h"
#include "tests/judge/fold.h"

namespace reseq::judge {

namespace {

namespace fs = std::filesystem;
using store::StateFolder;

struct Copy {
  std::string path;  // of the original
  std::unique_ptr<store::DiskCopy> disk;
  [[nodiscard]] const store::Checkpoint& checkpoint() const { return disk->written()->checkpoint; }
};

std::optional<Partition> partition_in(const std::string& name) {
  std::int32_t number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) return std::nullopt;
  return Partition(number);
}

std::string named(std::string_view key, std::string_view value) {
  Record row;
  row.key = key;
  row.payload = value;
  return describe(row);
}

class Looking {
 public:
  Looking(const runtime::Application& application, const History& history, const Case& which, Judgement& judgement,
          Verdict& verdict)
      : application_(application), history_(history), which_(which), judgement_(judgement), verdict_(verdict) {}

  Result<> collect() {
    for (const std::string& instance : which_.instance_folders) {
      std::error_code none;  // a process that never had a partition has no folder
      for (const auto& entry : fs::directory_iterator(instance, none)) {
        const auto partition = partition_in(entry.path().filename().string());
        if (!partition || !entry.is_directory()) continue;
        if (auto taken = take(entry.path().string(), *partition); !taken) return taken;
      }
    }
    return Done{};
  }

  void judge() {
    for (std::int32_t p = 0; p < application_.partitions; ++p) judge(Partition(p), copies_[Partition(p)]);
  }

 private:
  void wrong(const std::string& path, const std::string& what) {
    if (which_.damaged_copies.contains(path)) {
      excused_.insert(path);
    } else {
      verdict_.add(Check::kCopies, path + ": " + what);
    }
    judgement_.excused = excused_.size();
  }

  // An unclean copy is trusted while the machine has not restarted; its notes hold the place of the folder, which is
  // another one for a copy of it: the note is written anew.
  Result<> take(const std::string& path, Partition partition) {
    auto original = StateFolder::open(path, store::boot_id());
    if (!original) return original.error();
    const StateFolder::Copy found = original.value()->found();
    if (found == StateFolder::Copy::kNone) return Done{};
    if (found == StateFolder::Copy::kPoisoned || found == StateFolder::Copy::kOtherBoot) {
      ++judgement_.distrusted;
      return Done{};
    }
    const std::string copied = which_.scratch_folder + "/" + std::to_string(taken_++);
    std::error_code failed;
    fs::create_directories(which_.scratch_folder, failed);
    fs::copy(path, copied, fs::copy_options::recursive, failed);
    if (failed) return Error{ErrorClass::kRetriable, 0, "cannot copy " + path + ": " + failed.message()};
    if (found == StateFolder::Copy::kSameBoot) {
      auto folder = StateFolder::open(copied, store::boot_id());
      if (!folder) return folder.error();
      if (auto noted = folder.value()->begin_writing(); !noted) return noted;
    }
    auto folder = StateFolder::open(copied, store::boot_id());
    if (!folder) return folder.error();
    auto disk = store::DiskCopy::open(std::move(folder).value(), {});
    if (!disk) {
      wrong(path, disk.error().message);
    } else if (disk.value()->written()) {
      copies_[partition].push_back({path, std::move(disk).value()});
    } else if (disk.value()->row_count() != 0) {
      wrong(path, "rows without a checkpoint");
    }
    return Done{};
  }

  // One pass over the changelog, which stops where copies stand.
  void judge(Partition partition, std::vector<Copy>& copies) {
    std::sort(copies.begin(), copies.end(),
              [](const Copy& a, const Copy& b) { return a.checkpoint().position < b.checkpoint().position; });
    const History::Log& log = history_.log({application_.topics.of(Role::kChangelog).value(), partition});
    Fold fold;
    std::size_t next = 0;
    for (const Copy& copy : copies) {
      for (; next < log.size() && log.offset(next) < copy.checkpoint().position; ++next) (void)fold.take(log[next]);
      ++judgement_.copies;
      if (fold.position() != copy.checkpoint().position) {
        wrong(copy.path, "it stands at " + std::to_string(copy.checkpoint().position.value()) +
                             ", the changelog has no record in front of it, but one in front of " +
                             std::to_string(fold.position().value()));
        continue;
      }
      compare(copy, fold, log[next - 1]);
    }
    if (which_.stopped_cleanly && !log.empty() && (copies.empty() || next < log.size()))
      verdict_.add(Check::kCopies, "partition " + std::to_string(partition.value()) +
                                       ": no copy stands at the end of the changelog, the next one at " +
                                       std::to_string(fold.position().value()));
  }

  void compare(const Copy& copy, const Fold& fold, const Record& last) {
    const store::CheckpointRecord& written = *copy.disk->written();
    if (written.summary != fold.summary()) wrong(copy.path, "digest or counts are not those of the changelog");
    if (written.checkpoint.last_record != fold.hash()->of_record(*last.key, last.payload.value_or("")))
      wrong(copy.path, "the last record is not that of the changelog");
    compare_rows(copy, fold);
    compare_timers(copy, fold);
  }

  void compare_rows(const Copy& copy, const Fold& fold) {
    std::size_t same = 0;
    auto scan = copy.disk->rows({});
    for (; scan.valid(); scan.next()) {
      const bool meta = scan.key() == codec::meta_key();
      const auto row = fold.rows().find(scan.key());
      const auto expected = meta ? fold.meta_bytes() : row != fold.rows().end() ? row->second : std::string_view();
      if (scan.value() == expected) {
        ++same;
      } else {
        wrong(copy.path, "holds " + named(scan.key(), scan.value()) + " where the changelog has " +
                             (expected.empty() ? "none" : named(scan.key(), expected)));
      }
    }
    if (scan.error()) return wrong(copy.path, scan.error()->message);
    const std::size_t rows = fold.rows().size() + (fold.meta() ? 1 : 0);
    if (same < rows) wrong(copy.path, std::to_string(rows - same) + " rows of the changelog are not in it as they are");
  }

  void compare_timers(const Copy& copy, const Fold& fold) {
    std::size_t expected = 0;
    for (const auto& [key, value] : fold.rows())
      if (codec::timer_of(key, value)) ++expected;
    std::size_t same = 0;
    const store::MemoryTable nothing(*fold.hash());
    for (auto scan = copy.disk->timers(nothing); scan && scan->valid(); scan->next()) {
      const auto timer = store::parse_timer_key(scan->key());
      const auto row = timer ? fold.rows().find(timer->key) : fold.rows().end();
      if (row != fold.rows().end() && codec::timer_of(row->first, row->second) == timer->deadline) {
        ++same;
      } else {
        wrong(copy.path, "holds a timer that no row has");
      }
    }
    if (same < expected) wrong(copy.path, std::to_string(expected - same) + " rows have no timer in it");
  }

  const runtime::Application& application_;
  const History& history_;
  const Case& which_;
  Judgement& judgement_;
  Verdict& verdict_;
  std::map<Partition, std::vector<Copy>> copies_;
  std::set<std::string> excused_;
  std::size_t taken_ = 0;
};

}  // namespace

Result<> check_copies(const runtime::Application& application, const History& history, const Case& which,
                      Judgement& judgement, Verdict& verdict) {
  Result<> done = Done{};
  {
    Looking looking(application, history, which, judgement, verdict);
    done = looking.collect();
    if (done) looking.judge();
  }
  std::error_code ignored;
  fs::remove_all(which.scratch_folder, ignored);
  return done;
}

}  // namespace reseq::judge
