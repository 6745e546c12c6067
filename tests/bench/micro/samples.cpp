#include "tests/bench/micro/samples.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "changelog/batch_rows.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "tests/bench/requests.h"
#include "tests/support/changelog_rows.h"

namespace reseq::bench {

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr UnixMs kNow{1'700'000'000'000};
constexpr Milliseconds kRegistrationTimeout{3'600'000};  // as it is without a configuration

const codec::KeyedHash& hash() {
  static const codec::KeyedHash keyed(identity().hash_key);
  return keyed;
}

}  // namespace

std::vector<std::uint64_t> drawn(std::uint64_t count, std::uint64_t below) {
  std::vector<std::uint64_t> numbers(below);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::mt19937_64 random(kSeed);
  // std::shuffle may differ from library to library.
  for (std::size_t i = 0; i < count; ++i) std::swap(numbers[i], numbers[i + random() % (numbers.size() - i)]);
  numbers.resize(count);
  return numbers;
}

TargetTable target_table() {
  return TargetTable({"search", "catalogue"}, {});
}

engine::Context context() {
  engine::Context made;
  made.now = kNow;
  made.registration_timeout = kRegistrationTimeout;
  made.all_targets = made.default_targets = TargetSet(3);
  made.policies.events = engine::EventPolicy::kDrops;
  return made;
}

PartitionState partition_state() {
  PartitionState state;
  state.clock = Version(static_cast<std::uint64_t>(kNow.value()) << 16U);
  return state;
}

Identity identity() {
  Identity made;
  made.application_id = "bench";
  made.partitions = 4;
  made.hash_key.bytes.fill(7);
  return made;
}

Row row_of(std::uint64_t sequence) {
  const Order order{Epoch(0), Sequence::of_number(sequence), Revision(0)};
  const TargetSet both(3);
  Row row;
  row.groups.push_back({order, true, both, TargetSet(), TargetSet()});
  row.since.push_back({both, kNow});
  row.deadline = UnixMs(kNow.value() + kRegistrationTimeout.value());
  row.requested = Requested{order, Offset(static_cast<std::int64_t>(sequence)), PayloadHash(sequence), both};
  return row;
}

codec::InputRecord& Inputs::add(Role role, std::uint64_t document) {
  codec::InputRecord& record = records_.emplace_back();
  record.role = role;
  record.offset = Offset(static_cast<std::int64_t>(records_.size()));
  record.timestamp = kNow;
  record.key = arena_.copy(id_of(document));
  record.payload = arena_.copy(payload_of({document, 1}));
  return record;
}

void Inputs::add_request(std::uint64_t document, std::uint64_t sequence) {
  codec::InputRecord& record = add(Role::kRequests, document);
  headers_.push_back({Header{"reseq-seq", arena_.copy(std::to_string(sequence))}, Header{"reseq-epoch", "0"},
                      Header{"reseq-targets", kTargets}});
  record.headers = {headers_.back().data(), 3};
}

void Inputs::add_result(std::uint64_t document, std::uint64_t sequence, std::string_view target) {
  codec::InputRecord& record = add(Role::kCommands, document);
  headers_.push_back({Header{"reseq-seq", arena_.copy(std::to_string(sequence))}, Header{"reseq-epoch", "0"},
                      Header{"reseq-command", "sequence"}, Header{"reseq-target", target}});
  record.headers = {headers_.back().data(), 4};
}

codec::DecodeContext decoding(const TargetTable& targets) {
  return {&targets, SequenceKind::kU64, Partitioner::kUnchecked, 4, false};
}

void Rows::add(std::uint64_t document, std::uint64_t sequence) {
  const std::string id = id_of(document);
  const Row row = row_of(sequence);
  const std::array<RowChange, 1> change = {RowChange{id, &row}};
  test::append_rows(change, hash(), arena_, changes_);
}

void Rows::add_identity() {
  changes_.push_back(changelog::identity_row(identity(), arena_));
}

void Rows::add_meta(const Summary& summary) {
  Meta meta;
  meta.state = partition_state();
  meta.lineage = {{1, Offset(0)}};
  meta.positions = {{Role::kRequests, Offset(1)}, {Role::kControl, Offset(1)}, {Role::kCommands, Offset(1)}};
  meta.summary = summary;
  changes_.push_back(changelog::meta_row(meta, arena_));
}

}  // namespace reseq::bench
