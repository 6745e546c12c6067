// What producers write.
#include "tests/property/producers.h"

#include <algorithm>

#include "tests/property/reasons.h"

namespace reseq::property {

void Logs::write(Log log, const Command& command) {
  std::deque<Input>& records = log == Log::kRequests ? requests : commands;
  records.push_back({command, log, Offset(static_cast<std::int64_t>(records.size()))});
}

std::size_t document_of(const Step& step, const Model& model) {
  return step.document >= 252 ? kCollider : step.document % model.documents;
}

std::optional<TargetSet> explicit_targets(const Step& step, const Model& model) {
  if (step.targets >= 160) return std::nullopt;
  const TargetSet named(step.targets & model.context.all_targets.bits());
  return named.empty() ? model.context.all_targets : named;
}

Producers::Producers(const Model& model, Logs& logs) : model_(model), logs_(logs) {
  if (model.producers_send_epochs)
    for (Producer& producer : producers_) producer.epoch = Epoch(0);
}

void Producers::play(const Step& step) {
  switch (step.action) {
    case Action::kRequest:
      return write_next(step, Op::kUpsert);
    case Action::kDelete:
      return write_next(step, Op::kDelete);
    case Action::kLateRequest:
      return write_late(step);
    case Action::kResend:
    case Action::kReuse:
    case Action::kReprocess:
      return write_again(step);
    case Action::kEpoch:
      return start_again(step);
    case Action::kReset:
      return reset(step);
    case Action::kRefused:
      return write_refused(step);
    default:
      return;
  }
}

// Another one each time, unless the model looks for those that are the same.
void Producers::give_payload(Request& request, const Step& step) {
  request.hash = PayloadHash(++payloads_);
  if (!model_.skips_unchanged) return;
  request.hash = PayloadHash((step.amount / 4) % kPayloads + (request.what.op == Op::kDelete ? kPayloads : 0));
  request.wish = wish_for(request.what.op, request.hash, step.amount >= 224);
}

void Producers::write(std::size_t document, const Number& number, const Step& step, Op op) {
  Request request;
  request.what.id = kIds[document];
  request.what.epoch = number.epoch;
  request.what.sequence = sequence_of(number.sequence);
  request.what.op = op;
  request.what.targets = explicit_targets(step, model_);
  if (step.flavour % 2 == 1) request.what.headers = routing_headers();
  give_payload(request, step);
  request.work_bytes = step.flavour >= 248 ? kTooManyBytes : step.flavour % 4 == 0 ? kReferenceAbove + 1 : 100;
  producers_[document].written.push_back(request);
  logs_.write(Log::kRequests, request);
}

void Producers::write_next(const Step& step, Op op) {
  const std::size_t document = document_of(step, model_);
  Producer& producer = producers_[document];
  const Number number{producer.epoch, producer.next};
  for (std::uint32_t skipped = 0; skipped < step.amount % 3U; ++skipped)
    producer.gaps.push_back({producer.epoch, ++producer.next});
  ++producer.next;
  write(document, number, step, op);
}

void Producers::write_late(const Step& step) {
  const std::size_t document = document_of(step, model_);
  std::vector<Number>& gaps = producers_[document].gaps;
  if (gaps.empty()) return;
  const auto gap = gaps.begin() + step.pick % static_cast<std::ptrdiff_t>(gaps.size());
  const Number number = *gap;
  gaps.erase(gap);
  write(document, number, step, step.amount >= 200 ? Op::kDelete : Op::kUpsert);
}

void Producers::write_again(const Step& step) {
  std::vector<Request>& written = producers_[document_of(step, model_)].written;
  if (written.empty()) return;
  const bool newest = step.pick < 160;
  Request request = newest ? written.back() : written[step.pick % written.size()];
  if (step.action == Action::kReuse) {
    if (step.flavour % 2 == 0) give_payload(request, step);
    if (step.flavour % 4 != 0) request.what.targets = explicit_targets(step, model_);
  }
  if (step.action == Action::kReprocess) {
    request.reprocess = true;
    if (step.flavour >= 220) request.what.op = Op::kDelete;
    if (step.flavour % 2 == 1 || step.flavour >= 220) give_payload(request, step);
    if (step.amount >= 250) request.work_bytes = kTooManyBytes;
  }
  logs_.write(Log::kRequests, request);
}

void Producers::start_again(const Step& step) {
  Producer& producer = producers_[document_of(step, model_)];
  producer.epoch = Epoch(producer.epoch.value_or(Epoch(0)).value() + 1);
  if (step.flavour % 2 == 0) producer.next = 1;
  producer.gaps.clear();
}

void Producers::reset(const Step& step) {
  logs_.write(Log::kRequests, Reset{Epoch(step.amount % 4U)});
  if (step.flavour % 2 == 1) return;
  for (Producer& producer : producers_)
    if (!producer.epoch) {
      producer.next = 1;
      producer.gaps.clear();
    }
}

void Producers::write_refused(const Step& step) {
  Refused refused;
  refused.reason = kDecoderReasons[step.pick % kDecoderReasons.size()];
  refused.sequence_without_id_or_seq =
      refused.reason == Reason::kMissingId || refused.reason == Reason::kMissingSequence;
  if (step.flavour % 2 == 1) refused.id = kIds[document_of(step, model_)];
  const bool result = refused.sequence_without_id_or_seq || step.flavour % 4 >= 2;
  logs_.write(result ? Log::kCommands : Log::kRequests, refused);
}

}  // namespace reseq::property
