#include "tests/bad_input/letters.h"

#include <utility>

namespace reseq::test {

namespace {

// As Java's ByteBuffer.putInt and putLong.
std::string big_endian(std::int64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text += static_cast<char>(static_cast<std::uint64_t>(value) >> static_cast<unsigned>(shift));
  return text;
}

// A header that the resequencer sets: what the input says under that name goes.
void set(Record& record, const std::string& name, const std::string& value) {
  std::erase_if(record.headers, [&](const RecordHeader& one) { return one.name == name; });
  record.headers.push_back({name, value});
}

}  // namespace

Record with_c_names(Record record) {
  for (RecordHeader& header : record.headers) header.name = header.name.c_str();
  return record;
}

Record letter_of(const ReadRecord& input, const std::string& reason, const std::string& expected, LetterStyle style) {
  const Place& from = input.place;
  Record letter = with_c_names(input.record);
  set(letter, "reseq-reason", reason);
  set(letter, "reseq-source-topic", from.topic);
  set(letter, "reseq-source-partition", std::to_string(from.partition));
  set(letter, "reseq-source-offset", std::to_string(from.offset));
  if (!expected.empty()) set(letter, "reseq-expected-seq", expected);
  set(letter, "reseq-first-written", std::to_string(input.timestamp_ms));
  if (style == LetterStyle::kStreams) {
    set(letter, "__streams.errors.exception", "resequencer");
    set(letter, "__streams.errors.message", reason);
    set(letter, "__streams.errors.stacktrace", "");
    set(letter, "__streams.errors.topic", from.topic);
    set(letter, "__streams.errors.partition", std::to_string(from.partition));
    set(letter, "__streams.errors.offset", std::to_string(from.offset));
  }
  if (style == LetterStyle::kSpring) {
    set(letter, "kafka_dlt-original-topic", from.topic);
    set(letter, "kafka_dlt-original-partition", big_endian(from.partition, 4));
    set(letter, "kafka_dlt-original-offset", big_endian(from.offset, 8));
    set(letter, "kafka_dlt-original-timestamp", big_endian(input.timestamp_ms, 8));
    set(letter, "kafka_dlt-exception-fqcn", "resequencer");
    set(letter, "kafka_dlt-exception-message", reason);
    set(letter, "kafka_dlt-exception-stacktrace", "");
  }
  return letter;
}

}  // namespace reseq::test
