#include "codec/task_row.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "row_generators.h"

namespace reseq::codec {
namespace {

RC_GTEST_PROP(TaskRow, SurvivesEncodingAndHasOneEncoding, ()) {
  const std::string key = task_key(any<std::uint8_t>(), any_bytes(kMinRankBytes, 40));
  TaskRow task{any_bytes(0, 60), any_bytes(0, 60)};
  if (one_in(10)) task.note = std::string(below(20'000), 'n');
  task.extensions = any_extensions();
  std::string value = "before";
  encode_task(key, task, value);
  value.erase(0, 6);
  const auto decoded = decode_task(key, value);
  RC_ASSERT(std::holds_alternative<TaskRow>(decoded));
  RC_ASSERT(std::get<TaskRow>(decoded) == task);
  std::string again;
  encode_task(key, std::get<TaskRow>(decoded), again);
  RC_ASSERT(again == value);
}

TEST(TaskRow, WithAnExtensionThatMustBeUnderstoodIsRefused) {
  const std::string key = task_key(1, "rank");
  TaskRow task;
  task.extensions = std::string("\x03\x00", 2);
  std::string value;
  encode_task(key, task, value);
  EXPECT_EQ(std::get<RowError>(decode_task(key, value)), RowError::kUnknownMandatory);
}

}  // namespace
}  // namespace reseq::codec
