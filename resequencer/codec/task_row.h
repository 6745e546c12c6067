// Task row: work of a gate that goes on over many batches, with the place it has reached.
//
//   body := cursor bytes | note bytes
//
// Thread rule: any thread.
#pragma once

#include <string>
#include <string_view>

#include "codec/rows.h"

namespace reseq::codec {

struct TaskRow {
  std::string cursor;  // key of the last row that was looked at; empty = none
  std::string note;    // what the gate has to know of it
  std::string extensions = {};
  friend bool operator==(const TaskRow&, const TaskRow&) = default;
};

void encode_task(std::string_view key, const TaskRow& task, std::string& out);
[[nodiscard]] Decoded<TaskRow> decode_task(std::string_view key, std::string_view value);

}  // namespace reseq::codec
