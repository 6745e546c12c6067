// BulkBody: what _bulk is sent, written straight into one buffer that is kept from request to request.
//
//   body    = *( line LF [ document LF ] )
//   line    = {"index":{"_id":..,"version":N,"version_type":"external_gte"}}      document or tombstone
//           / {"delete":{"_id":..,"version":N,"version_type":"external_gte"}}     hard deletes only; no document line
//
// A tombstone is {"reseq_deleted":true,"reseq_deleted_at":ms}. A marker (sink/marker.h) is
// {"reseq_deleted":true,"reseq_failed":{..its note..}}: hidden as a tombstone is, and never too old. Where `_id` is not
// the id itself ("document_id.h") each has "reseq_id" in front.
// A version of 0 is left out of the line, with its type: the last write wins.
// Invariant: every item is one line or two, whatever the payload holds.
// Thread rule: one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "consumers/opensearch/payload.h"
#include "consumers/sink/marker.h"
#include "model/ids.h"

namespace reseq::opensearch {

// Of an item that no server carries out, because it wants a document with a number that none has. It is answered with a
// conflict and changes nothing, but is refused before that for whatever keeps the server from taking items.
inline constexpr std::string_view kPlaceOfNone =
    R"({"_id":"reseq-check","if_seq_no":9223372036854775807,"if_primary_term":9223372036854775807})";

class BulkBody {
 public:
  // Forgets the items, keeps the memory up to kKeptBytesMax.
  void clear();

  // Each appends an item. Why a payload was refused, and then nothing is appended; static text.
  std::optional<std::string_view> add_document(std::string_view id, Version version, std::string_view payload);
  // A payload of any bytes, as {"text": ..}, or as {"base64": ..} where it is no UTF-8.
  void add_text(std::string_view id, Version version, std::string_view payload);
  void add_tombstone(std::string_view id, Version version, UnixMs deleted_at);
  void add_marker(std::string_view id, Version version, const sink::Marker& marker);
  // By `_id`, as it stands in the index.
  void add_delete(std::string_view stored_id, Version version);
  // By id.
  void add_hard_delete(std::string_view id, Version version);

  [[nodiscard]] std::size_t items() const { return begins_.size(); }
  [[nodiscard]] std::size_t bytes() const { return text_.size(); }
  // Items begin .. end - 1.
  [[nodiscard]] std::string_view part(std::size_t begin, std::size_t end) const;

 private:
  static constexpr std::size_t kKeptBytesMax = std::size_t{64} << 20;

  void add_action(std::string_view action, std::string_view stored_id, Version version);
  void begin_document(std::string_view id, Version version);
  void append_quoted(std::string_view utf8);
  void append_number(std::int64_t number);

  PayloadReader reader_;
  std::string text_;
  std::vector<std::size_t> begins_;
};

}  // namespace reseq::opensearch
