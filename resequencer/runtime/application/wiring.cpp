#include "runtime/application/wiring.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "codec/decimal.h"
#include "codec/header_names.h"
#include "codec/keys.h"
#include "codec/place_row.h"
#include "codec/sequence_text.h"

namespace reseq::runtime {
namespace {

codec::EncodeContext encoding(const Application& application, const TargetTable& table, Role input) {
  codec::EncodeContext context;
  context.targets = &table;
  context.sequence_kind = application.sequence_kind;
  context.dead_letter_headers = application.dead_letter_headers;
  context.cloudevents = application.cloudevents;
  context.input_topic = application.topics.name(application.topics.of(input));
  return context;
}

bool stand_in_input_order(std::span<const Emission> emissions) {
  std::size_t before = 0;
  return std::all_of(emissions.begin(), emissions.end(), [&](const Emission& emission) {
    if (emission.input == kNoInput) return true;
    return std::exchange(before, emission.input.value()) <= emission.input.value();
  });
}

}  // namespace

codec::DecodeContext decoding(const Application& application, const TargetTable& targets, bool tap, Arena& arena,
                              const codec::KeyedHash* hash) {
  codec::DecodeContext context;
  context.targets = &targets;
  context.sequence_kind = application.sequence_kind;
  context.partitioner = application.partitioner;
  context.partitions = application.partitions;
  context.tap = tap;
  context.cloudevents = application.cloudevents;
  context.headers_max = application.headers_max;
  context.explicit_deletes = application.explicit_deletes;
  context.elsewhere = application.elsewhere ? &*application.elsewhere : nullptr;
  context.arena = &arena;
  context.journal = application.journal;
  context.failures = application.settings.failures_mode == "retry";
  context.hash = hash;
  if (application.settings.skip_unchanged) context.content_headers = &application.settings.unchanged_headers;
  return context;
}

namespace {

std::optional<codec::HeldRow> head_of(const LetThrough& held, const codec::FindRow& row) {
  if (!held.row.empty()) return codec::held_of(held.row);
  const auto value = row(held.key);
  if (!value) return std::nullopt;
  const auto decoded = codec::decode_held(held.key, *value);
  const auto* const head = std::get_if<codec::HeldRow>(&decoded);
  return head == nullptr ? std::nullopt : std::optional(*head);
}

}  // namespace

namespace {

// Of a place that ended there is no record: what it is about, as its request said it.
std::optional<codec::InputRecord> request_of_place(const LetThrough& place, const codec::FindRow& row,
                                                   const codec::DecodeContext& decoding, Arena& arena) {
  const auto value = row(place.key);
  const auto decoded = value ? codec::decode_place(place.key, *value) : codec::Decoded<codec::PlaceRow>();
  const auto* const known = std::get_if<codec::PlaceRow>(&decoded);
  if (!value || known == nullptr) return std::nullopt;
  codec::InputRecord record;
  record.role = Role::kRequests;
  record.offset = known->request;
  record.key = place.id;
  std::vector<Header> headers = {
      {codec::header::kSeq, arena.copy(codec::format_sequence(decoding.sequence_kind, known->order.sequence))}};
  if (known->order.epoch != Epoch())
    headers.push_back({codec::header::kEpoch, codec::decimal(known->order.epoch.value(), arena)});
  record.headers = arena.copy(std::span<const Header>(headers));
  return record;
}

}  // namespace

std::optional<codec::InputRecord> record_of(const LetThrough& held, const codec::FindRow& row, const FindAgain& again,
                                            const codec::DecodeContext& decoding, Arena& arena) {
  if (held.key.front() == static_cast<char>(codec::KeyType::kPlace))
    return request_of_place(held, row, decoding, arena);
  const auto head = head_of(held, row);
  if (!head) return std::nullopt;
  if (held.gone) {
    codec::InputRecord left;
    left.role = head->role;
    left.partition = head->partition;
    left.offset = head->offset;
    left.timestamp = head->timestamp;
    left.key = held.id;
    return left;
  }
  auto record = head->reference ? again(head->offset) : codec::held_record(held.key, *head, row, arena);
  if (record) (void)codec::decode(*record, decoding);  // for what it said beside
  return record;
}

Outgoing outgoing(const Application& application, const PartitionSetting& setting, const TargetTable& table,
                  const Emission& emission, const codec::InputRecord* input, Arena& arena) {
  const Topics& topics = application.topics;
  if (const auto* generated = std::get_if<Generated>(&emission.what)) {
    Outgoing out{topics.of(generated->record->to), codec::encode(*generated->record), emission.partition};
    out.headers = out.record.headers;
    return out;
  }
  RESEQ_ASSERT(input != nullptr, "a record that goes on without its input");
  const bool redirects = std::holds_alternative<Redirect>(emission.what);
  const kafka::TopicIndex letters = redirects ? topics.missing() : topics.of(Role::kDeadLetter);
  codec::EncodeContext context = encoding(application, table, input->role);
  context.dead_letter_bytes_max = application.record_bytes_max[letters.value()];
  Outgoing out{letters, codec::encode(emission, *input, context, arena), emission.partition};
  if (out.record.role == Role::kOutput) {
    RESEQ_ASSERT(out.record.target.has_value(), "an output without a target");
    out.topic = setting.outputs[out.record.target->value()];
  } else if (!redirects) {
    out.topic = topics.of(out.record.role);
  }
  return out;
}

void append_outgoing(const Application& application, const PartitionSetting& setting, const TargetTable& table,
                     std::span<const Emission> emissions, const Decoded& inputs, Arena& arena,
                     std::vector<Outgoing>& out) {
  std::size_t last = SIZE_MAX;  // that takes headers over,
  std::size_t last_input = 0;   // and whose
  // What left the journal stands in another order than its inputs, also where it drains. An input has one record then.
  std::vector<bool> taken;
  const bool in_order = !application.keeps_under_way && stand_in_input_order(emissions);
  for (const Emission& emission : emissions) {
    const std::size_t i = emission.input.value();
    const codec::InputRecord* const input = emission.input == kNoInput ? nullptr : &inputs.records[i];
    out.push_back(outgoing(application, setting, table, emission, input, arena));
    if (!out.back().record.takes_input_headers) continue;
    if (inputs.sources[i] == nullptr) {
      out.back().headers = input->headers;
      continue;
    }
    kafka::Record* const source = inputs.sources[i];
    if (!in_order) {
      taken.resize(inputs.records.size());
      RESEQ_ASSERT(!taken[i], "two records of an input in a journal");
      taken[i] = true;
      out.back().headers_from = source;
      continue;
    }
    RESEQ_ASSERT(last_input <= i, "records that take headers over out of input order");
    last_input = i;
    if (last != SIZE_MAX && out[last].headers_from == source) {
      out[last].headers_from = nullptr;
      out[last].headers = {source->headers.data(), source->headers.size()};
    }
    out.back().headers_from = source;
    last = out.size() - 1;
  }
}

Outgoing outgoing(const Application& application, const TargetTable& table, const Event& event,
                  const codec::InputRecord* input, Arena& arena) {
  const Role role = input == nullptr ? Role::kControl : input->role;
  return {application.topics.of(Role::kEvents), codec::encode(event, input, encoding(application, table, role), arena),
          std::nullopt};
}

}  // namespace reseq::runtime
