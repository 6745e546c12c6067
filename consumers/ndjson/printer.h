// Printer: the records of a topic as lines on a pipe or a file, and the positions up to which they are written.
// Invariant: a position is handed out for a commit only after the lines before it were taken by the operating system.
// Thread rule: one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "consumers/lines/record_line.h"
#include "kafka/plain_record.h"

namespace reseq::sink_ndjson {

class Printer {
 public:
  // `file`: a descriptor that stays open. The form: how payloads are written.
  Printer(int file, lines::PayloadForm form) : file_(file), form_(form) {}

  // Writes when enough has come together.
  Result<> print(const kafka::PlainRecord& record);
  // Writes everything, and waits while a pipe is full. kFatal: it cannot be written.
  Result<> flush();
  // The lines go into a pipe that nobody reads any more.
  [[nodiscard]] bool reader_is_gone() const;

  // Next offsets of what was written, as far as they were not returned before.
  [[nodiscard]] std::vector<kafka::PlainOffset> take_written();
  // The partitions went elsewhere: their positions are nobody's any more. What was printed stays printed.
  void forget_positions();

 private:
  static constexpr std::size_t kFlushBytes = std::size_t{64} << 10;

  int file_;
  lines::PayloadForm form_;
  std::string waiting_;
  std::map<Partition, kafka::PlainOffset> printed_;
  std::map<Partition, kafka::PlainOffset> written_;
};

}  // namespace reseq::sink_ndjson
