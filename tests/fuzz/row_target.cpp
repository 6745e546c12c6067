// Rows from bytes that nobody vouches for: refused, or read as a row whose encoding is these very bytes. So nothing is
// lost by reading and writing again, and no two encodings mean the same. Half of the inputs get a right checksum,
// because no fuzzer guesses one.
#include <algorithm>

#include "base/assert.h"
#include "base/big_endian.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "pieces.h"
#include "row_checks.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

std::string document_key(const std::string& id) {
  std::string key;
  codec::append_document_key(id, codec::KeyedHash(HashKey()), key);
  return key;
}

// What is read of a journal without decoding its row.
void check_journal(const std::string& value, const Row& row) {
  RESEQ_ASSERT(codec::has_journal(value) == !row.journal.empty(), "a journal that is none");
  DocumentPriorities priorities;
  std::optional<std::uint64_t> lease_until;
  const auto smaller = [](const auto& a, auto b) { return a ? std::min(*a, b) : b; };
  for (const JournalEntry& entry : row.journal) {
    if (entry.state == EntryState::kWaiting) priorities.waiting = smaller(priorities.waiting, entry.urgency.priority);
    if (entry.state == EntryState::kProcessing)
      priorities.processing = smaller(priorities.processing, entry.urgency.priority);
    if (entry.lease_until != UnixMs())
      lease_until = smaller(lease_until, static_cast<std::uint64_t>(entry.lease_until.value()));
  }
  RESEQ_ASSERT(codec::priorities_of(value) == priorities, "priorities that are not those of the entries");
  Counts counts;
  counts.add(codec::count_document(value));
  RESEQ_ASSERT((counts[Count::kWaiting] == 1) == row.waits() && (counts[Count::kProcessing] == 1) == row.processing(),
               "counts that are not those of the entries");
  std::optional<std::uint64_t> found;
  codec::each_document_entry(value, [&](std::uint8_t index, std::string_view bytes) {
    RESEQ_ASSERT(index == codec::kLeaseIndex && bytes.size() == 8 && !found, "an entry of an index that is none");
    found = read_big_endian(bytes);
  });
  RESEQ_ASSERT(found == lease_until, "a lease that is not the first");
}

void check_document(const std::string& key, const std::string& id, const std::string& value) {
  check_row_of<codec::DocumentRow>(key, value, codec::decode_row,
                                   [](std::string_view row_key, const codec::DocumentRow& found, std::string& out) {
                                     codec::encode_row(row_key, found.id, found.row, out);
                                   });
  (void)codec::timer_of(value);
  (void)codec::priorities_of(value);
  codec::each_document_entry(value, [](std::uint8_t, std::string_view) {});
  const auto decoded = codec::decode_row(key, value);
  const auto* found = std::get_if<codec::DocumentRow>(&decoded);
  if (found == nullptr) return;
  RESEQ_ASSERT(codec::is_watermark(value) == !found->row.live(), "a watermark that is none");
  check_journal(value, found->row);
  const bool has_timer = !found->row.completed() && found->row.deadline.value() != 0 && !found->row.overdue;
  RESEQ_ASSERT(codec::timer_of(value) == (has_timer ? std::optional(found->row.deadline) : std::nullopt),
               "a timer that its row does not have");
  // Under a hashed key the row says which document it is; the store compares.
  if (!codec::key_is_hashed(id)) RESEQ_ASSERT(found->id == id, "a row of another document");
}

}  // namespace

void fuzz_row(std::string_view input) {
  Pieces pieces(input);
  const std::uint8_t choice = pieces.byte();
  std::string id = (choice & 4U) != 0 ? pieces.text() : "doc-1";
  if (id.empty() || id.size() > kMaxIdBytes) id = "doc-1";
  const std::string key = (choice & 16U) != 0 ? pieces.text() : document_key(id);
  std::string value(pieces.rest());
  const bool is_document = (choice & 3U) == 0;
  const std::string_view keys[] = {key, codec::meta_key(), codec::identity_key(), codec::target_table_key()};
  if ((choice & 8U) == 0) seal(keys[choice & 3U], "", value);
  if (is_document && (choice & 16U) == 0) return check_document(key, id, value);
  switch (choice & 3U) {
    case 0:
      (void)codec::decode_row(key, value);
      return;
    case 1:
      return check_row_of<Meta>(codec::meta_key(), value, codec::decode_meta, codec::encode_meta);
    case 2:
      return check_row_of<Identity>(codec::identity_key(), value, codec::decode_identity, codec::encode_identity);
    default:
      return check_row_of<TargetTable>(codec::target_table_key(), value, codec::decode_targets, codec::encode_targets);
  }
}

}  // namespace reseq::fuzz
