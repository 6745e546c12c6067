// Sequences of all kinds: text that is read comes back as the same sequence, and bytes compare as what they mean does.
// Lists of targets: every name that is read stands in the table.
#include <compare>

#include "base/assert.h"
#include "codec/sequence_text.h"
#include "codec/target_names.h"
#include "codec/timestamp_text.h"
#include "fuzzed_record.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

// Digits compared without turning them into a number.
std::strong_ordering compare_decimals(std::string_view a, std::string_view b) {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  return a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
}

void check_pair(SequenceKind kind, const std::string& a, const std::string& b) {
  const auto first = codec::parse_sequence(kind, a);
  const auto second = codec::parse_sequence(kind, b);
  if (!first || !second) return;
  if (kind == SequenceKind::kU64)
    RESEQ_ASSERT((*first <=> *second) == compare_decimals(a, b), "numbers that compare in another way");
  if (kind == SequenceKind::kText) RESEQ_ASSERT((*first <=> *second) == (a <=> b), "texts that compare otherwise");
  const auto early = codec::parse_timestamp(a);
  const auto late = codec::parse_timestamp(b);
  if (kind == SequenceKind::kTimestamp && early && late)
    RESEQ_ASSERT((*first <=> *second) == (*early <=> *late), "instants that compare in another way");
}

void check_text(SequenceKind kind, const std::string& text) {
  const auto sequence = codec::parse_sequence(kind, text);
  if (!sequence) return;
  RESEQ_ASSERT(!sequence->bytes().empty() && sequence->bytes().size() <= Sequence::kMaxBytes, "a length out of bounds");
  const std::string canonical = codec::format_sequence(kind, *sequence);
  RESEQ_ASSERT(codec::parse_sequence(kind, canonical) == *sequence, "a text that does not come back");
}

void check_number(std::uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(number >> shift));
  const Sequence sequence(bytes);
  for (const SequenceKind kind : {SequenceKind::kU64, SequenceKind::kTimestamp, SequenceKind::kLsn})
    RESEQ_ASSERT(codec::parse_sequence(kind, codec::format_sequence(kind, sequence)) == sequence,
                 "a number that does not come back");
}

void check_names(const std::string& list) {
  const TargetTable& table = codec::two_targets();
  const auto targets = codec::parse_targets(list, table);
  if (const auto* found = std::get_if<TargetSet>(&targets))
    RESEQ_ASSERT(!found->empty() && table.all().covers(*found), "targets that the table does not have");
  const auto target = codec::parse_target(list, table);
  if (const auto* found = std::get_if<TargetNumber>(&target))
    RESEQ_ASSERT(table.name(*found) == list, "a target of another name");
}

}  // namespace

void fuzz_sequence(std::string_view input) {
  Pieces pieces(input);
  const auto kind = static_cast<SequenceKind>(pieces.below(4));
  check_number(pieces.number());
  const std::string a = pieces.text();
  const std::string b = pieces.text();
  check_text(kind, a);
  check_pair(kind, a, b);
  check_names(a);
}

}  // namespace reseq::fuzz
