// What a thread waits for can be read from outside.
#include "base/thread_stack.h"

#include <future>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace reseq {
namespace {

constexpr std::chrono::milliseconds kPatience{10'000};

TEST(ThreadStack, NamesTheCallInWhichAThreadStands) {
  std::promise<void> begun, end;
  std::thread waits([&, until = end.get_future()] {
    begun.set_value();
    until.wait();
  });
  begun.get_future().wait();
  for (int i = 0; i < 2; ++i) {
    const std::vector<std::string> calls = stack_of(waits.native_handle(), kPatience);
    EXPECT_THAT(calls, testing::Contains(testing::HasSubstr("libc.so"))) << testing::PrintToString(calls);
  }
  end.set_value();
  waits.join();
}

}  // namespace
}  // namespace reseq
