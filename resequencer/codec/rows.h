// Values of the rows, the same in LMDB and in the changelog. Grammar at the head of row_frame.h, document_row.cpp,
// row_order.h, row_journal.h, meta_row.cpp, pinned_rows.cpp, held_rows.h and task_row.h and, with an example byte by
// byte, in schemas/state.md.
//
// Every value starts with a format byte and carries a 32-bit checksum over key and value. Extensions are tagged; one
// with the must-understand bit that this version does not know makes the row unreadable, others are kept as they are.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "model/command.h"
#include "model/partition_state.h"
#include "model/row.h"
#include "model/summary.h"
#include "model/target.h"

namespace reseq::codec {

enum class RowError : unsigned char {
  kTruncated,  // shorter than its own lengths say, or bytes left over
  kBadChecksum,
  kUnknownFormat,     // written by a newer version
  kUnknownMandatory,  // carries an extension that must be understood
  kInvalid,           // the checksum is right but an invariant of the row is broken
};
[[nodiscard]] std::string_view name_of(RowError error);

template <typename T>
using Decoded = std::variant<T, RowError>;

// Of an entry of an index that a row has.
using EntryVisit = std::function<void(std::uint8_t index, std::string_view bytes)>;

struct DocumentRow {
  std::string id;  // whole id
  Row row;
};

// Appends the encoding to `out`. The same row gives the same bytes. `key` is the row's key (for the checksum, and to
// know whether the id must be stored in full).
void encode_row(std::string_view key, DocumentId id, const Row& row, std::string& out);
void encode_meta(std::string_view key, const Meta& meta, std::string& out);
void encode_targets(std::string_view key, const TargetTable& table, std::string& out);
void encode_identity(std::string_view key, const Identity& identity, std::string& out);

[[nodiscard]] Decoded<DocumentRow> decode_row(std::string_view key, std::string_view value);
// The same for who made `key` of this id: into an empty `row`. `of_another`: it is the row of another id, whose key has
// the same hash.
[[nodiscard]] std::optional<RowError> decode_row_of(DocumentId id, std::string_view key, std::string_view value,
                                                    Row& row, bool& of_another);
[[nodiscard]] Decoded<Meta> decode_meta(std::string_view key, std::string_view value);
[[nodiscard]] Decoded<TargetTable> decode_targets(std::string_view key, std::string_view value);
[[nodiscard]] Decoded<Identity> decode_identity(std::string_view key, std::string_view value);

// True for an encoded document row that is not live, read without decoding the rest.
// REQUIRES: value came from encode_row or was decoded once.
[[nodiscard]] bool is_watermark(std::string_view value);
// What it counts as. REQUIRES: as above.
[[nodiscard]] CountSet count_document(std::string_view value);
// The same when its priorities are known.
[[nodiscard]] CountSet count_document(std::string_view value, const DocumentPriorities& priorities);
// What is shorter is no row, and must not be asked.
inline constexpr std::size_t kRowBytesMin = 3;

inline constexpr std::uint8_t kJournalFlag = 8;  // in the second byte of the flags
// True for an encoded document row that has a journal; bytes that are no row may say anything. Most rows have none, and
// have only to be asked this.
[[nodiscard]] inline bool has_journal(std::string_view value) {
  return value.size() >= kRowBytesMin && (static_cast<std::uint8_t>(value[1]) & 0x80U) != 0 &&
         (static_cast<std::uint8_t>(value[2]) & kJournalFlag) != 0;
}

// Of an encoded document row, read without decoding it. REQUIRES: as above.
[[nodiscard]] DocumentPriorities priorities_of(std::string_view value);

// The index of documents by the first of their leases that ends: the time, the highest byte first.
inline constexpr std::uint8_t kLeaseIndex = 2;
// Calls visit(index, bytes) for each entry of an encoded document row. REQUIRES: as above; bytes that are no row have
// none or any.
void each_document_entry(std::string_view value, const EntryVisit& visit);

// The deadline of an encoded live row that has one and is not overdue yet, read without its key. A row without such a
// deadline costs a look at its flags. REQUIRES: as above; bytes that are no row give none or any number.
[[nodiscard]] std::optional<UnixMs> timer_of(std::string_view value);

// True when format and checksum of a value under this key are right: what a decoder checks first.
[[nodiscard]] bool is_intact(std::string_view key, std::string_view value);

}  // namespace reseq::codec
