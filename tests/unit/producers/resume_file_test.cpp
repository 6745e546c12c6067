#include "producers/sending/resume_file.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/process.h"

namespace reseq::test {
namespace {

using sending::ResumeFile;
using sending::ResumeState;

class ResumeFileTest : public testing::Test {
 protected:
  TempDir folder_;
  std::filesystem::path path_ = std::filesystem::path(folder_.path()) / "state.json";
  ResumeState state_{.stream = "git", .destination = "requests", .mark = {.position = 12, .token = "abc"}};
};

TEST_F(ResumeFileTest, IsNothingBeforeTheFirstSave) {
  const auto loaded = ResumeFile(path_).load();
  ASSERT_TRUE(loaded.ok());
  EXPECT_FALSE(loaded.value().has_value());
}

TEST_F(ResumeFileTest, GivesBackWhatWasSavedLast) {
  const ResumeFile file(path_);
  ASSERT_TRUE(file.save(state_).ok());
  state_.mark = {.position = 18446744073709551615U, .token = "\"\n\x7f"};
  ASSERT_TRUE(file.save(state_).ok());
  const auto loaded = file.load();
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded.value(), state_);
}

TEST_F(ResumeFileTest, KeepsTheOldStateWhenTheNewOneCannotBeWritten) {
  const ResumeFile file(path_);
  ASSERT_TRUE(file.save(state_).ok());
  // A folder where the new file has to be written: the save fails for every user, root too.
  ASSERT_TRUE(std::filesystem::create_directory(path_.string() + ".new"));
  ResumeState newer = state_;
  newer.mark.position = 13;
  EXPECT_FALSE(file.save(newer).ok());
  EXPECT_EQ(file.load().value(), state_);
}

TEST_F(ResumeFileTest, IgnoresAHalfWrittenNewFile) {
  const ResumeFile file(path_);
  ASSERT_TRUE(file.save(state_).ok());
  std::ofstream(path_.string() + ".new") << "{\"format\":1,\"po";
  EXPECT_EQ(file.load().value(), state_);
  EXPECT_TRUE(file.save(state_).ok());
}

TEST_F(ResumeFileTest, RefusesAFileThatIsSomethingElse) {
  for (const char* text : {"", "[]", "{}", "{\"format\":2}", "{\"format\":1,\"stream\":\"git\"}", "not json"}) {
    std::ofstream(path_, std::ios::trunc) << text;
    const auto loaded = ResumeFile(path_).load();
    ASSERT_FALSE(loaded.ok()) << text;
    EXPECT_EQ(loaded.error().what_to_do, ErrorClass::kInvalid);
  }
}

}  // namespace
}  // namespace reseq::test
