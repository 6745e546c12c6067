// What a stopped process left on disk is compared row by row with the changelog. The copies are made by the store
// itself, from the changelog of a world or from one with something wrong in it.
#include "tests/judge/copies.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

#include "codec/keys.h"
#include "store/partition_store.h"
#include "tests/unit/judge/past.h"

namespace reseq::judge {
namespace {

namespace fs = std::filesystem;

enum class Ending : std::uint8_t { kClean, kKilled };

class Copies : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path().string() + "/judged-copies-XXXXXX";
    ASSERT_NE(::mkdtemp(root_.data()), nullptr);
    which_.instance_folders = {instance()};
    which_.scratch_folder = root_ + "/scratch";
    which_.stopped_cleanly = false;
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] std::string instance() const { return root_ + "/app/1"; }
  [[nodiscard]] std::string folder() const { return instance() + "/0"; }
  [[nodiscard]] static const Past& past() { return Past::shared(); }
  [[nodiscard]] static std::size_t rows() { return past().history().log(past().changelog()).size(); }

  // A copy of the state of partition 0 after so many rows of the changelog.
  void write_copy(const History& history, std::size_t records, Ending ending = Ending::kClean) {
    auto opened = store::StateFolder::open(folder(), store::boot_id());
    ASSERT_TRUE(opened) << opened.error().message;
    auto store = store::PartitionStore::open(std::move(opened).value(), {});
    ASSERT_TRUE(store) << store.error().message;
    for (std::size_t i = 0; i < records; ++i) {
      const Record record = history.log(past().changelog())[i];
      const auto restored = store.value()->restore({*record.key, record.payload}, record.offset);
      ASSERT_TRUE(restored) << restored.error().message;
    }
    ASSERT_TRUE(store.value()->write_checkpoint());
    if (ending == Ending::kClean) {
      ASSERT_TRUE(store.value()->close_clean());
    }
  }

  void look(const History& history) {
    judgement_ = {};
    verdict_ = {};
    const auto looked = check_copies(past().application(), history, which_, judgement_, verdict_);
    ASSERT_TRUE(looked) << looked.error().message;
    EXPECT_FALSE(fs::exists(which_.scratch_folder));
  }

  std::string root_;
  Case which_;
  Judgement judgement_;
  Verdict verdict_;
};

TEST_F(Copies, AreGoodWhereverTheyStand) {
  for (const std::size_t records : {std::size_t{3}, rows() / 2, rows()}) {
    for (const Ending ending : {Ending::kClean, Ending::kKilled}) {
      fs::remove_all(folder());
      write_copy(past().history(), records, ending);
      look(past().history());
      EXPECT_TRUE(verdict_.good()) << verdict_.lines().front();
      EXPECT_EQ(judgement_.copies, 1U);
    }
  }
}

TEST_F(Copies, HaveToStandAtTheEndAfterACleanStop) {
  which_.stopped_cleanly = true;
  const auto others = static_cast<std::uint64_t>(past().application().partitions - 1);  // have no copy here
  write_copy(past().history(), rows() - 1);
  look(past().history());
  EXPECT_EQ(verdict_.count(), others + 1);
  fs::remove_all(folder());
  write_copy(past().history(), rows());
  look(past().history());
  EXPECT_EQ(verdict_.count(), others);
}

TEST_F(Copies, AreSeenToHoldAnotherRow) {
  // The last row but the meta row is missing in the log that this copy was made of.
  Offset last;
  for (std::size_t i = 0; i < rows(); ++i)
    if (const Record record = past().history().log(past().changelog())[i]; record.key != codec::meta_key())
      last = record.offset;
  write_copy(*past().with(past().changelog(), last, std::nullopt), rows() - 1);
  look(past().history());
  EXPECT_FALSE(verdict_.good());
  EXPECT_EQ(judgement_.excused, 0U);
  which_.damaged_copies = {folder()};
  look(past().history());
  EXPECT_TRUE(verdict_.good());
  EXPECT_EQ(judgement_.excused, 1U);
}

TEST_F(Copies, AreSeenToStandAheadOfTheLog) {
  write_copy(past().history(), rows());
  const Offset last = past().history().log(past().changelog()).offset(rows() - 1);
  look(*past().with(past().changelog(), last, std::nullopt));
  EXPECT_FALSE(verdict_.good());
}

TEST_F(Copies, AreSeenToBeDamaged) {
  write_copy(past().history(), rows());
  const auto size = fs::file_size(folder() + "/data.mdb");
  std::fstream file(folder() + "/data.mdb", std::ios::in | std::ios::out | std::ios::binary);
  std::string all(size, '\0');
  file.read(all.data(), static_cast<std::streamsize>(size));
  const std::size_t place = all.find("document-");
  ASSERT_NE(place, std::string::npos);
  // Every page that holds a row, those that are not used any more as well.
  for (std::size_t at = place; at != std::string::npos; at = all.find("document-", at + 1)) all[at + 8] = '_';
  file.seekp(0);
  file.write(all.data(), static_cast<std::streamsize>(size));
  file.close();
  look(past().history());
  EXPECT_FALSE(verdict_.good());
}

TEST_F(Copies, AreNotJudgedWhenTheirProcessWouldNotTrustThem) {
  write_copy(past().history(), 5, Ending::kKilled);
  std::ofstream(folder() + "/boot") << "1 another 1:1\n";
  look(past().history());
  EXPECT_TRUE(verdict_.good());
  EXPECT_EQ(judgement_.copies, 0U);
  EXPECT_EQ(judgement_.distrusted, 1U);
}

TEST_F(Copies, CannotBeJudgedWhileAProcessHoldsThem) {
  write_copy(past().history(), 5);
  const auto held = store::StateFolder::open(folder(), store::boot_id());
  ASSERT_TRUE(held);
  EXPECT_FALSE(check_copies(past().application(), past().history(), which_, judgement_, verdict_));
}

}  // namespace
}  // namespace reseq::judge
