#include "runtime/takeover/shelf.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

#include "tests/support/log_lines.h"
#include "tests/support/process.h"

namespace reseq::runtime {
namespace {

namespace fs = std::filesystem;

// Every open descriptor of the file becomes one that cannot be synced.
int break_syncs_of(const fs::path& file) {
  int pipe_ends[2] = {-1, -1};
  if (::pipe(pipe_ends) != 0) return 0;
  int broken = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (fs::read_symlink(entry.path(), gone) == file)
      broken += ::dup2(pipe_ends[1], std::stoi(entry.path().filename())) >= 0 ? 1 : 0;
  }
  for (const int end : pipe_ends) ::close(end);
  return broken;
}

TEST(Shelf, TellsOnceThatACopyCannotBeSyncedAndSyncsTheOthers) {
  const test::TempDir folder;
  Shelf shelf(folder.path(), "boot", {});
  for (int p = 0; p < 2; ++p) {
    auto taken = shelf.take(Partition(p));
    ASSERT_TRUE(taken.ok()) << taken.error().message;
    shelf.give_back(Partition(p), std::move(taken.value().store), UnixMs());
  }
  ASSERT_GT(break_syncs_of(fs::canonical(folder.path()) / "0" / "data.mdb"), 0);
  const test::LogLines log;
  for (int i = 0; i < 3; ++i) shelf.sync_all();
  EXPECT_EQ(log.count("partition=0 sync=failed"), 1);
  EXPECT_EQ(log.count("partition=1"), 0);

  auto again = shelf.take(Partition(0));
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again.value().store->fault().has_value()) << "it is to be rebuilt";
  shelf.give_back(Partition(0), std::move(again.value().store), UnixMs());
  EXPECT_FALSE(shelf.close_clean());
}

TEST(Shelf, RemembersSinceWhenACopyIsReadFromTheBeginning) {
  const test::TempDir folder;
  Shelf shelf(folder.path(), "boot", {});
  auto taken = shelf.take(Partition(0));
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ(taken.value().read_since, UnixMs());
  shelf.give_back(Partition(0), std::move(taken.value().store), UnixMs(7));
  const auto again = shelf.take(Partition(0));
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_FALSE(again.value().from_disk);
  EXPECT_EQ(again.value().read_since, UnixMs(7));
}

}  // namespace
}  // namespace reseq::runtime
