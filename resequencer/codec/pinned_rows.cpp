// The values of the rows that are written once and then pinned: target table and identity.
//
//   targets  := count varint, name bytes*           number = place in the list; names unique, [A-Za-z0-9._-]{1,100}
//   extension 1 of targets := strict varint | total varint      sets of numbers in the list, disjoint, not both empty
//   identity := application id bytes | cluster id bytes | partitions varint | sequence kind u8 | partitioner u8
//               | hash key 16 bytes | born time     partitions 1 .. 2^31 - 1
#include <algorithm>
#include <cstring>

#include "codec/byte_writer.h"
#include "codec/keys.h"
#include "codec/row_frame.h"
#include "codec/rows.h"
#include "codec/target_names.h"

namespace reseq::codec {
namespace {

constexpr std::uint64_t kOrderedTag = 1;  // no extension that is kept as it came can stand before it

// The first extension; returns what is behind it.
std::string_view read_ordered(std::string_view extensions, OrderedTargets& ordered, ByteReader& in) {
  ByteReader all(extensions);
  (void)all.varint();
  ByteReader sets(all.bytes());
  ordered.strict = TargetSet(sets.varint());
  ordered.total = TargetSet(sets.varint());
  sets.require(sets.rest().empty() && !ordered.all().empty());
  in.require(sets.ok());
  return all.rest();
}

bool holds(const std::vector<std::string>& names) {
  if (names.size() > kMaxTargets) return false;
  for (auto name = names.begin(); name != names.end(); ++name)
    if (!is_target_name(*name) || std::find(names.begin(), name, *name) != name) return false;
  return true;
}

bool holds(const OrderedTargets& ordered, const TargetTable& table) {
  return (ordered.strict & ordered.total).empty() && table.all().covers(ordered.all());
}

bool holds(const Identity& identity) {
  return identity.partitions > 0 && identity.sequence_kind <= SequenceKind::kText &&
         identity.partitioner <= Partitioner::kUnchecked;
}

}  // namespace

void encode_targets(std::string_view key, const TargetTable& table, std::string& out) {
  RESEQ_ASSERT(holds(table.names()), "a target table that breaks its invariants");
  const std::size_t begin = out.size();
  ByteWriter writer(out);
  writer.u8(kRowFormat);
  writer.varint(table.names().size());
  for (const std::string& name : table.names()) writer.bytes(name);
  if (!table.ordered().all().empty()) {
    const auto strict = table.ordered().strict.bits();
    const auto total = table.ordered().total.bits();
    writer.varint(kOrderedTag);
    writer.varint(varint_size(strict) + varint_size(total));
    writer.varint(strict);
    writer.varint(total);
  }
  seal(key, table.extensions(), begin, writer);
}

Decoded<TargetTable> decode_targets(std::string_view key, std::string_view value) {
  if (key != target_table_key()) return RowError::kInvalid;
  ByteReader in = open_frame(key, value);
  std::vector<std::string> names;
  for (std::size_t count = in.count(); count > 0 && in.ok(); --count) names.emplace_back(in.bytes());
  std::string_view extensions = read_extensions(in, 0, kOrderedTag);
  OrderedTargets ordered;
  if (in.ok() && !extensions.empty() && extensions.front() == static_cast<char>(kOrderedTag))
    extensions = read_ordered(extensions, ordered, in);
  if (!in.ok()) return *in.error();
  if (!holds(names)) return RowError::kInvalid;
  TargetTable table(std::move(names), std::string(extensions), ordered);
  if (!holds(ordered, table)) return RowError::kInvalid;
  return table;
}

void encode_identity(std::string_view key, const Identity& identity, std::string& out) {
  RESEQ_ASSERT(holds(identity), "an identity that breaks its invariants");
  const std::size_t begin = out.size();
  ByteWriter writer(out);
  writer.u8(kRowFormat);
  writer.bytes(identity.application_id);
  writer.bytes(identity.cluster_id);
  writer.varint(static_cast<std::uint64_t>(identity.partitions));
  writer.u8(static_cast<std::uint8_t>(identity.sequence_kind));
  writer.u8(static_cast<std::uint8_t>(identity.partitioner));
  for (const std::uint8_t byte : identity.hash_key.bytes) writer.u8(byte);
  writer.time(identity.born);
  seal(key, identity.extensions, begin, writer);
}

Decoded<Identity> decode_identity(std::string_view key, std::string_view value) {
  if (key != identity_key()) return RowError::kInvalid;
  ByteReader in = open_frame(key, value);
  Identity identity;
  identity.application_id = in.bytes();
  identity.cluster_id = in.bytes();
  identity.partitions = static_cast<std::int32_t>(in.varint(INT32_MAX));
  identity.sequence_kind = static_cast<SequenceKind>(in.u8());
  identity.partitioner = static_cast<Partitioner>(in.u8());
  for (std::uint8_t& byte : identity.hash_key.bytes) byte = in.u8();
  identity.born = in.time();
  identity.extensions = read_extensions(in);
  if (!in.ok()) return *in.error();
  if (!holds(identity)) return RowError::kInvalid;
  return identity;
}

}  // namespace reseq::codec
