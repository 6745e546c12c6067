// What the proxy has to know of Kafka's protocol: where a request or response ends, what kind it is and whose.
//
//   frame    = size i32 | message            size counts what follows it
//   request  = key i16 | version i16 | correlation i32 | client id (i16 length, -1 = null) | [tags] | body
//   response = correlation i32 | [tags] | body
//
// Integers are big-endian. The header of a request has tags when that version of its kind is "flexible" (KIP-482).
// Thread rule: plain values and functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/kafka_api.h"

namespace reseq::chaos {

using test::Api;

// What tells one request from another.
struct RequestFacts {
  Api api{};
  std::int16_t version = 0;
  std::int32_t correlation = 0;
  std::string client_id;
  // Of the six kinds that name one (Produce, InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, EndTxn,
  // TxnOffsetCommit); empty otherwise.
  std::string transactional_id;
};

// Reads from the front; a read beyond the end gives zeros and makes good() false for ever.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool good() const { return good_; }
  std::int8_t i8() { return static_cast<std::int8_t>(number(1)); }
  std::int16_t i16() { return static_cast<std::int16_t>(number(2)); }
  std::int32_t i32() { return static_cast<std::int32_t>(number(4)); }
  std::int64_t i64() { return static_cast<std::int64_t>(number(8)); }
  std::uint32_t varint();
  std::string text();          // i16 length, null reads as empty
  std::string compact_text();  // varint length + 1, null reads as empty
  void skip(std::size_t bytes) { (void)take(bytes); }
  void skip_tags();

 private:
  std::string_view take(std::size_t bytes);
  std::uint64_t number(std::size_t bytes);

  std::string_view rest_;
  bool good_ = true;
};

class WireWriter {
 public:
  WireWriter& i8(std::int8_t value) { return number(static_cast<std::uint8_t>(value), 1); }
  WireWriter& i16(std::int16_t value) { return number(static_cast<std::uint16_t>(value), 2); }
  WireWriter& i32(std::int32_t value) { return number(static_cast<std::uint32_t>(value), 4); }
  WireWriter& i64(std::int64_t value) { return number(static_cast<std::uint64_t>(value), 8); }
  WireWriter& varint(std::uint32_t value);
  WireWriter& text(std::string_view value);
  WireWriter& compact_text(std::string_view value);
  // A compact array has its length + 1 in front.
  WireWriter& compact_count(std::size_t entries) { return varint(static_cast<std::uint32_t>(entries) + 1); }
  WireWriter& no_tags() { return varint(0); }
  WireWriter& raw(std::string_view bytes);
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  // The bytes with their size in front.
  [[nodiscard]] std::string frame() const;

 private:
  WireWriter& number(std::uint64_t value, std::size_t bytes);

  std::string bytes_;
};

// A whole frame. Nothing: this is no request.
[[nodiscard]] std::optional<RequestFacts> read_request(std::string_view frame);
[[nodiscard]] std::optional<std::int32_t> read_correlation(std::string_view frame);

// The error code of an answer to EndTxn; -1 when it cannot be read.
[[nodiscard]] std::int16_t end_txn_error(const RequestFacts& request, std::string_view frame);

// Cuts a byte stream into frames.
class FrameCutter {
 public:
  // False: what comes is not Kafka's protocol, or a frame larger than any broker takes.
  [[nodiscard]] bool append(std::string_view bytes, std::vector<std::string>& frames);
  // Bytes of the frame that is not whole yet.
  [[nodiscard]] std::size_t pending() const { return partial_.size(); }

 private:
  std::string partial_;
};

}  // namespace reseq::chaos
