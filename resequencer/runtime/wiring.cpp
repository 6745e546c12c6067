#include "runtime/wiring.h"

#include <variant>

#include "base/assert.h"

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

}  // namespace

codec::DecodeContext decoding(const Application& application, const PartitionSetting& setting, Arena& arena) {
  codec::DecodeContext context;
  context.targets = &setting.known;
  context.sequence_kind = application.sequence_kind;
  context.partitioner = application.partitioner;
  context.partitions = application.partitions;
  context.tap = setting.context.intake == engine::Intake::kTap;
  context.cloudevents = application.cloudevents;
  context.headers_max = application.headers_max;
  context.explicit_deletes = application.explicit_deletes;
  context.elsewhere = application.elsewhere ? &*application.elsewhere : nullptr;
  context.arena = &arena;
  return context;
}

Outgoing outgoing(const Application& application, const PartitionSetting& setting, const TargetTable& table,
                  const Emission& emission, const codec::InputRecord& input, Arena& arena) {
  const Topics& topics = application.topics;
  const bool redirects = std::holds_alternative<Redirect>(emission.what);
  const kafka::TopicIndex letters = redirects ? topics.missing() : topics.of(Role::kDeadLetter);
  codec::EncodeContext context = encoding(application, table, input.role);
  context.dead_letter_bytes_max = application.record_bytes_max[letters.value()];
  Outgoing out{letters, codec::encode(emission, input, context, arena)};
  if (out.record.role == Role::kOutput) {
    RESEQ_ASSERT(out.record.target.has_value(), "an output without a target");
    out.topic = setting.outputs[out.record.target->value()];
  } else if (!redirects) {
    out.topic = topics.of(out.record.role);
  }
  return out;
}

Outgoing outgoing(const Application& application, const TargetTable& table, const Event& event,
                  const codec::InputRecord* input, Arena& arena) {
  const Role role = input == nullptr ? Role::kControl : input->role;
  return {application.topics.of(Role::kEvents), codec::encode(event, input, encoding(application, table, role), arena)};
}

}  // namespace reseq::runtime
