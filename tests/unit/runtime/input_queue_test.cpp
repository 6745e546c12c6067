#include "runtime/worker/input_queue.h"

#include <gtest/gtest.h>
#include <initializer_list>

namespace reseq::runtime {
namespace {

kafka::Record record(std::int64_t offset) {
  kafka::Record made;
  made.offset = Offset(offset);
  return made;
}

InputQueue queue_with(std::initializer_list<std::int64_t> requests, std::initializer_list<std::int64_t> commands) {
  InputQueue queue;
  for (const Role role : {Role::kRequests, Role::kControl, Role::kCommands}) queue.reset(role, Offset(0));
  for (const std::int64_t offset : requests) queue.push(Role::kRequests, record(offset));
  for (const std::int64_t offset : commands) queue.push(Role::kCommands, record(offset));
  return queue;
}

TEST(InputQueue, CommitsTheOffsetOfTheFirstRecordThatIsNotDecided) {
  const InputQueue queue = queue_with({3, 4, 9}, {});
  EXPECT_EQ(queue.after(Role::kRequests, 0), Offset(3));
  EXPECT_EQ(queue.after(Role::kRequests, 2), Offset(9));
  EXPECT_EQ(queue.after(Role::kRequests, 3), Offset(10));
}

TEST(InputQueue, CountsControlRecordsAtTheEndOfTheLogAsRead) {
  InputQueue queue = queue_with({3}, {});
  queue.reached(Role::kRequests, Offset(5));  // a transaction marker stands at 4
  EXPECT_EQ(queue.after(Role::kRequests, 1), Offset(5));
  EXPECT_EQ(queue.after(Role::kRequests, 0), Offset(3)) << "an undecided record must be read again after a crash";
}

TEST(InputQueue, KeepsOneCopyOfARecordThatIsFetchedTwice) {
  InputQueue queue = queue_with({3, 4}, {});
  queue.push(Role::kRequests, record(3));
  queue.push(Role::kRequests, record(4));
  queue.push(Role::kRequests, record(5));
  EXPECT_EQ(queue.records(Role::kRequests).size(), 3U);
}

TEST(InputQueue, TakesOnlyWhatWasDecided) {
  InputQueue queue = queue_with({3, 4, 5}, {7});
  queue.take(Role::kRequests, 2);
  EXPECT_EQ(queue.decided(Role::kRequests), Offset(5));
  EXPECT_EQ(queue.records(Role::kRequests).front().offset, Offset(5));
  EXPECT_EQ(queue.records(Role::kCommands).size(), 1U);
}

TEST(InputQueue, HoldsCommandsUntilRequestsAreReadToTheEndThatWasAsked) {
  InputQueue queue = queue_with({}, {7});
  EXPECT_TRUE(queue.something_to_decide());
  queue.want_ends();
  EXPECT_TRUE(queue.commands_wait());
  EXPECT_FALSE(queue.something_to_decide());
  queue.set_fence(Offset(2));
  EXPECT_TRUE(queue.commands_wait());
  queue.push(Role::kRequests, record(0));
  EXPECT_TRUE(queue.commands_wait());
  queue.push(Role::kRequests, record(1));
  EXPECT_FALSE(queue.commands_wait());
  EXPECT_TRUE(queue.requests_read_for(Offset(7)));
}

TEST(InputQueue, AnswersOnlyForCommandsThatWereFetchedBeforeTheEndWasAsked) {
  InputQueue queue = queue_with({}, {7});
  queue.want_ends();
  queue.set_fence(Offset(0));
  queue.push(Role::kCommands, record(8));  // its request may stand behind the end that was asked
  EXPECT_TRUE(queue.requests_read_for(Offset(7)));
  EXPECT_FALSE(queue.requests_read_for(Offset(8)));
}

TEST(InputQueue, ForgetsWhatWasFetchedWhenItIsReset) {
  InputQueue queue = queue_with({3, 4}, {7});
  queue.want_ends();
  for (const Role role : {Role::kRequests, Role::kControl, Role::kCommands}) queue.reset(role, queue.decided(role));
  EXPECT_EQ(queue.size(), 0U);
  EXPECT_EQ(queue.bytes(), 0U);
  EXPECT_EQ(queue.read(Role::kRequests), Offset(0));
  EXPECT_FALSE(queue.wants_ends());
}

}  // namespace
}  // namespace reseq::runtime
