#include "store/state_folder.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rows.h"

namespace reseq::store {
namespace {

using Copy = StateFolder::Copy;
using testing::AllOf;
using testing::HasSubstr;

std::unique_ptr<StateFolder> must_open(const Place& place, const std::string& boot = kBootId) {
  auto opened = StateFolder::open(place.folder(), boot);
  if (opened) return std::move(opened).value();
  ADD_FAILURE() << opened.error().message;
  return nullptr;
}

void write_copy(const Place& place, const std::string& bytes) {
  std::ofstream(place.file("data.mdb"), std::ios::binary) << bytes;
}

Error refusal(const std::string& path) {
  const auto opened = StateFolder::open(path, kBootId);
  if (!opened) return opened.error();
  ADD_FAILURE() << path << " was opened";
  return {};
}

TEST(StateFolder, IsMadeForItsOwnerOnly) {
  const Place place;
  EXPECT_EQ(must_open(place)->found(), Copy::kNone);
  struct stat status {};
  ASSERT_EQ(::stat(place.folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
  ASSERT_EQ(::stat((place.path() + "/state").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST(StateFolder, IsCleanOnlyWhenNothingWasWrittenSinceTheMark) {
  const Place place;
  {
    const auto folder = must_open(place);
    ASSERT_TRUE(folder->begin_writing().ok());
    write_copy(place, "copy");
    ASSERT_TRUE(folder->mark_clean().ok());
  }
  EXPECT_EQ(must_open(place, "another boot")->found(), Copy::kClean);
  {
    const auto folder = must_open(place);
    ASSERT_TRUE(folder->begin_writing().ok());
  }
  EXPECT_EQ(must_open(place)->found(), Copy::kSameBoot);
  EXPECT_EQ(must_open(place, "another boot")->found(), Copy::kOtherBoot);
  EXPECT_EQ(must_open(place, "")->found(), Copy::kOtherBoot);
}

TEST(StateFolder, DoesNotTrustACopyOfAnotherLengthThanItsMark) {
  const Place place;
  {
    const auto folder = must_open(place);
    ASSERT_TRUE(folder->begin_writing().ok());
    write_copy(place, "copy");
    ASSERT_TRUE(folder->mark_clean().ok());
  }
  write_copy(place, "cop");
  EXPECT_EQ(must_open(place, "another boot")->found(), Copy::kOtherBoot);
}

TEST(StateFolder, DoesNotTrustACopyThatWasMoved) {
  const Place place;
  {
    const auto folder = must_open(place);
    ASSERT_TRUE(folder->begin_writing().ok());
    write_copy(place, "copy");
  }
  std::filesystem::copy(place.folder(), place.path() + "/elsewhere");
  ::chmod((place.path() + "/elsewhere").c_str(), 0700);
  const auto moved = StateFolder::open(place.path() + "/elsewhere", kBootId);
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(moved.value()->found(), Copy::kOtherBoot);
}

TEST(StateFolder, StaysPoisonedUntilItIsWiped) {
  const Place place;
  {
    const auto folder = must_open(place);
    ASSERT_TRUE(folder->begin_writing().ok());
    write_copy(place, "copy");
    ASSERT_TRUE(folder->poison().ok());
    EXPECT_FALSE(folder->mark_clean().ok());
  }
  const auto folder = must_open(place);
  EXPECT_EQ(folder->found(), Copy::kPoisoned);
  ASSERT_TRUE(folder->wipe().ok());
  EXPECT_EQ(folder->found(), Copy::kNone);
  EXPECT_FALSE(std::filesystem::exists(place.file("data.mdb")));
  EXPECT_FALSE(folder->poisoned());
}

TEST(StateFolder, HasOneHolderInAProcess) {
  const Place place;
  auto first = must_open(place);
  const Error second = refusal(place.folder());
  EXPECT_EQ(second.what_to_do, ErrorClass::kRetriable);
  EXPECT_THAT(second.message, HasSubstr("held by another"));
  first.reset();
  EXPECT_NE(must_open(place), nullptr);
}

TEST(StateFolder, HasOneHolderAmongProcesses) {
  const Place place;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto held = StateFolder::open(place.folder(), kBootId);
    const char answer = held ? 'y' : 'n';
    (void)!::write(ready[1], &answer, 1);
    ::pause();
    ::_exit(0);
  }
  char answer = 'n';
  EXPECT_EQ(::read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_EQ(refusal(place.folder()).what_to_do, ErrorClass::kRetriable);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
  EXPECT_NE(must_open(place), nullptr) << "the lock of a process that died";
}

TEST(StateFolder, RefusesLinks) {
  const Place place;
  must_open(place).reset();
  ASSERT_EQ(::symlink(place.folder().c_str(), (place.path() + "/link").c_str()), 0);
  EXPECT_THAT(refusal(place.path() + "/link").message, HasSubstr("symbolic link"));

  std::ofstream(place.path() + "/elsewhere") << "copy";
  ASSERT_EQ(::symlink((place.path() + "/elsewhere").c_str(), place.file("data.mdb").c_str()), 0);
  EXPECT_EQ(refusal(place.folder()).what_to_do, ErrorClass::kInvalid);
  ::unlink(place.file("data.mdb").c_str());
  ASSERT_EQ(::link((place.path() + "/elsewhere").c_str(), place.file("data.mdb").c_str()), 0);
  EXPECT_EQ(refusal(place.folder()).what_to_do, ErrorClass::kInvalid);
  ::unlink(place.file("data.mdb").c_str());

  ::unlink(place.file("lock").c_str());
  ASSERT_EQ(::symlink((place.path() + "/elsewhere").c_str(), place.file("lock").c_str()), 0);
  EXPECT_EQ(refusal(place.folder()).what_to_do, ErrorClass::kInvalid);
}

TEST(StateFolder, RefusesAFolderThatOthersCanWrite) {
  const Place place;
  must_open(place).reset();
  ASSERT_EQ(::chmod(place.folder().c_str(), 0770), 0);
  const Error refused = refusal(place.folder());
  EXPECT_EQ(refused.what_to_do, ErrorClass::kInvalid);
  EXPECT_THAT(refused.message, HasSubstr("chmod"));
}

TEST(StateFolder, RefusesAFolderThatOthersCanReplace) {
  const Place place;
  must_open(place).reset();
  ASSERT_EQ(::chmod(place.path().c_str(), 0777), 0);
  const Error refused = refusal(place.folder());
  EXPECT_EQ(refused.what_to_do, ErrorClass::kInvalid);
  const std::string parent = std::filesystem::weakly_canonical(place.path());
  EXPECT_THAT(refused.message, AllOf(HasSubstr("everybody can write " + parent + ","),
                                     HasSubstr("(user " + std::to_string(::geteuid()) + ") or root `chmod o-w " +
                                               parent + "`, or set state.dir")));
  ASSERT_EQ(::chmod(place.path().c_str(), 01777), 0) << "as /tmp";
  EXPECT_NE(must_open(place), nullptr);
}

TEST(StateFolder, RefusesAFolderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const Place place;
  must_open(place).reset();
  ASSERT_EQ(::chown(place.folder().c_str(), 65534, 65534), 0);
  EXPECT_THAT(refusal(place.folder()).message, HasSubstr("chown"));
}

TEST(StateFolder, RefusesFileSystemsOnWhichLmdbIsNotSafe) {
  const Error refused = refusal("/proc/self");
  EXPECT_EQ(refused.what_to_do, ErrorClass::kInvalid);
}

TEST(StateFolder, KnowsThisBoot) {
  EXPECT_EQ(boot_id().size(), 36U);
  EXPECT_EQ(boot_id(), boot_id());
}

}  // namespace
}  // namespace reseq::store
