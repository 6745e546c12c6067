#include "codec/task_row.h"

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/keys.h"
#include "codec/row_frame.h"

namespace reseq::codec {

void encode_task(std::string_view key, const TaskRow& task, std::string& out) {
  const std::size_t begin = out.size();
  ByteWriter writer(out);
  writer.u8(kRowFormat);
  writer.bytes(task.cursor);
  writer.bytes(task.note);
  seal(key, task.extensions, begin, writer);
}

Decoded<TaskRow> decode_task(std::string_view key, std::string_view value) {
  const auto parsed = parse_key(key);
  if (!parsed || parsed->type != KeyType::kTask) return RowError::kInvalid;
  ByteReader in = open_frame(key, value);
  TaskRow task;
  task.cursor = in.bytes();
  task.note = in.bytes();
  task.extensions = read_extensions(in);
  if (!in.ok()) return *in.error();
  return task;
}

}  // namespace reseq::codec
