// Every damage to a copy is done, and said.
#include "tests/chaos/nemesis/state_damage.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>

#include "tests/support/process.h"

namespace reseq::chaos {
namespace {

std::string folder_content(const std::string& folder) {
  std::string all;
  std::set<std::string> files;
  if (!std::filesystem::exists(folder)) return "gone";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.insert(entry.path().string());
  for (const std::string& file : files) {
    std::ifstream bytes(file, std::ios::binary);
    all += file + std::string((std::istreambuf_iterator<char>(bytes)), std::istreambuf_iterator<char>());
  }
  return all;
}

void make_copy(const std::string& folder, char filling) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/data.mdb", std::ios::binary) << std::string(32'768, filling);
  std::ofstream(folder + "/clean") << "1 32768\n";
}

TEST(Damage, ChangesTheCopyAndSaysHow) {
  const test::TempDir directory;
  const std::string copy = directory.path() + "/3";
  const std::string kept = directory.path() + "/kept";
  std::set<std::string> kinds;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    std::filesystem::remove_all(copy);
    make_copy(copy, 'a');
    ASSERT_TRUE(keep(copy, kept));
    make_copy(copy, 'b');
    const std::string before = folder_content(copy);
    simulation::Draw draw(seed);
    const Damage done = damage(copy, kept, draw);
    EXPECT_NE(folder_content(copy), before) << done.what;
    EXPECT_TRUE(done.done()) << done.what;
    kinds.insert(done.what.substr(done.what.find_first_not_of("0123456789 "), 12));
  }
  EXPECT_EQ(kinds.size(), 9U);
}

TEST(Damage, SaysWhenThereIsNothingToDamage) {
  const test::TempDir directory;
  simulation::Draw draw(1);
  EXPECT_FALSE(damage(directory.path() + "/3", directory.path() + "/kept", draw).done());
}

TEST(PoisonCopies, MarksThoseThatHoldSomething) {
  const test::TempDir directory;
  make_copy(directory.path() + "/0", 'a');
  std::filesystem::create_directories(directory.path() + "/1");
  poison_copies(directory.path());
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/0/poisoned"));
  EXPECT_FALSE(std::filesystem::exists(directory.path() + "/1/poisoned"));
}

// One that was not born has an empty changelog: a copy of anything there is rightly taken for all that is left.
TEST(ExchangeCopies, GivesAnotherCopyToThosePartitionsOnlyThatWereBorn) {
  const test::TempDir directory;
  const std::string instance = directory.path() + "/r1";
  make_copy(instance + "/0", 'a');
  make_copy(directory.path() + "/r2/1", 'b');
  const std::string before = folder_content(instance + "/0");
  EXPECT_TRUE(exchange_copies(instance, {}).empty());
  EXPECT_EQ(exchange_copies(instance, {1, 2}), (std::set<int>{1, 2}));
  EXPECT_EQ(folder_content(instance + "/0"), before);
  EXPECT_EQ(folder_content(instance + "/3"), "gone");
  EXPECT_NE(folder_content(instance + "/2"), "gone");
  std::ifstream wrong(instance + "/1/data.mdb");
  EXPECT_EQ(wrong.get(), 'a');
}

}  // namespace
}  // namespace reseq::chaos
