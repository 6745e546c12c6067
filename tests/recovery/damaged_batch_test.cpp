// A batch of an input that is damaged on the disk of the broker: nothing behind it is taken before it, and nothing is
// lost once it is whole again.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/e2e/patience.h"
#include "tests/shop/shop.h"
#include "tests/support/broker.h"

namespace reseq::test {
namespace {

using testing::UnorderedElementsAre;

// One bit of the last record in a log, which can be turned over and back.
class Bit {
 public:
  explicit Bit(const std::string& log) : file_(::open(log.c_str(), O_RDWR | O_CLOEXEC)) {
    struct stat status {};
    (void)::fstat(file_, &status);
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    const bool read = ::pread(file_, bytes.data(), bytes.size(), 0) == status.st_size;
    // There may be room behind the records.
    if (read) at_ = static_cast<off_t>(bytes.find_last_not_of('\0'));
  }
  ~Bit() { ::close(file_); }
  Bit(const Bit&) = delete;
  Bit& operator=(const Bit&) = delete;
  [[nodiscard]] bool flip() const {
    char byte = 0;
    if (::pread(file_, &byte, 1, at_) != 1) return false;
    byte = static_cast<char>(byte ^ 1);
    return ::pwrite(file_, &byte, 1, at_) == 1;
  }

 private:
  int file_;
  off_t at_ = -1;
};

TEST(DamagedBatch, IsReadAgainThenParksItsPartitionAndNothingIsLost) {
  if (Broker::shared().data_folder().empty()) GTEST_SKIP() << "the broker is not one of ours";
  Shop shop("session.timeout.ms = 6000\n[[target]]\nname = \"search\"\n");
  shop.start();
  shop.request("book", "1");
  shop.settle();
  ASSERT_EQ(shop.stop(), 0);
  shop.request("toy", "1");
  shop.flush();
  const std::string log =
      Broker::shared().data_folder() + "/" + shop.application().topic("requests") + "-0/00000000000000000000.log";
  const Bit bit(log);
  ASSERT_TRUE(bit.flip());
  shop.request("pen", "1");
  shop.start();
  ASSERT_TRUE(wait_until(std::chrono::seconds(60), [&] {
    return shop.log().find("parked reason=input_unreadable") != std::string::npos;
  })) << shop.log();
  EXPECT_NE(shop.log().find("reading=again"), std::string::npos);
  EXPECT_THAT(shop.work(), UnorderedElementsAre("book 1 -> search"));
  shop.kill();

  ASSERT_TRUE(bit.flip());
  shop.start();
  shop.settle();
  EXPECT_THAT(shop.work(), UnorderedElementsAre("book 1 -> search", "toy 1 -> search", "pen 1 -> search"));
  EXPECT_EQ(shop.stop(), 0);
}

}  // namespace
}  // namespace reseq::test
