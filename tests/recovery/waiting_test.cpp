// What a takeover waits for by itself, brought about on a real broker, until it is over.
#include <filesystem>

#include "store/state_folder.h"
#include "tests/recovery/recovering.h"
#include "tests/recovery/stranger.h"

namespace reseq::test {
namespace {

class WaitingTest : public Recovering {};

TEST_F(WaitingTest, IsForTheEndOfTransactionsThatOthersLeftOpen) {
  init(3);
  live(30);
  Stranger stranger(shop);
  stranger.begin();
  stranger.write_to_changelog(1);
  stranger.send_offset(0, 0);
  start();
  expect_says(2, "takeover=ready recovery=reuse");
  expect_says(0, "takeover=offsets waiting=committed_offsets seconds=");
  expect_says(1, "takeover=restore waiting=open_transaction seconds=");
  EXPECT_FALSE(says(0, "takeover=ready"));
  EXPECT_FALSE(says(1, "takeover=ready"));
  stranger.abort();
  expect_says(0, "takeover=ready recovery=reuse");
  expect_says(1, "takeover=ready recovery=reuse");
  process_documents(2);
  stop();
}

// A copy that must go, and a disk that keeps it: a mount point cannot be removed.
TEST_F(WaitingTest, IsForADiskThatRefusesToForget) {
  if (std::system("unshare -rm true 2>/dev/null") != 0) {
    if (std::getenv("CI") != nullptr) FAIL() << "unshare -rm does not work: mount namespaces are needed";
    GTEST_SKIP() << "no mount namespaces here";
  }
  init(1);
  live(5);
  Log ahead = changelog.at(0);
  ahead.push_back(ahead.back());
  ahead.back().offset += 100;
  write_copy(copy_of(0), ahead);
  shop.in_front = {"unshare", "-rm", "sh", "-c", "mount --bind \"$0\" \"$0\" && exec \"$@\"", copy_of(0) + "/data.mdb"};
  start();
  expect_says(0, "waiting=copy_not_emptied");
  EXPECT_FALSE(says(0, "takeover=ready"));
  stop();
  shop.in_front.clear();
  start();
  expect_says(0, "takeover=ready recovery=rebuild reason=truncated");
  stop();
}

}  // namespace
}  // namespace reseq::test
