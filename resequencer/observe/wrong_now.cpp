#include "observe/wrong_now.h"

#include "admin/document_json.h"
#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/sequence_text.h"
#include "engine/standing.h"

namespace reseq::observe {

namespace {

// Optional extension of a row, of a store that only a ledger opens.
constexpr std::uint64_t kOverwrittenTag = 1026;

// The newest order of the target that somebody requested; null: none, or it is answered.
const Order* unanswered(const Row& row, TargetNumber target) {
  for (const Group& group : row.groups)
    if (group.pending.contains(target)) return group.requested ? &group.order : nullptr;
  return nullptr;
}

}  // namespace

OverwrittenTargets overwritten_in(const Row& row) {
  OverwrittenTargets all;
  codec::ByteReader reader(row.extensions.view());
  if (row.extensions.view().empty() || reader.varint() != kOverwrittenTag) return all;
  const Json noted = Json::parse(reader.bytes(), nullptr, false);
  for (const Json& one : noted.is_array() ? noted : Json::array())
    all[TargetNumber(one.at(0).get<std::uint8_t>())] = {one.at(1).get<std::string>(),
                                                        UnixMs(one.at(2).get<std::int64_t>())};
  return all;
}

void note_overwritten(const OverwrittenTargets& targets, Row& row) {
  row.extensions = RareText();
  if (targets.empty()) return;
  Json all = Json::array();
  for (const auto& [target, one] : targets) all.push_back({target.value(), one.written, one.since.value()});
  std::string note;
  codec::ByteWriter writer(note);
  writer.varint(kOverwrittenTag);
  writer.bytes(all.dump());
  writer.finish();
  row.extensions = note;
}

Json order_json(const Order& order, SequenceKind kind) {
  Json json = {{"epoch", order.epoch.value()}};
  admin::set_bytes(json, "seq", codec::format_sequence(kind, order.sequence));
  json["revision"] = std::to_string(order.revision.value());
  return json;
}

void tell_wrong(std::string_view id, const Row& row, const TargetTable& targets, SequenceKind kind,
                const WrongLine& line, WrongCounts& counts) {
  const OverwrittenTargets overwritten = overwritten_in(row);
  for (std::size_t t = 0; t < targets.names().size(); ++t) {
    const TargetNumber target(static_cast<std::uint8_t>(t));
    const auto old = overwritten.find(target);
    const Order* missing = unanswered(row, target);
    if (old == overwritten.end() && missing == nullptr) continue;
    const Order* newest = engine::last_release(row, target);
    Json json = Json::object();
    admin::set_bytes(json, "id", id);
    json["target"] = targets.names()[t];
    if (old != overwritten.end()) {
      ++counts.overwritten;
      json["wrong"] = "overwritten";
      json["since"] = admin::time_text(old->second.since);
      json["last_result"] = Json::parse(old->second.written);
      if (newest != nullptr) json["newest_result"] = order_json(*newest, kind);
    } else {
      ++counts.missing;
      json["wrong"] = "missing";
      if (row.requested && row.requested->order == *missing)
        json["since"] = admin::time_text(UnixMs(row.requested->position.value()));
      if (newest != nullptr) json["last_result"] = order_json(*newest, kind);
    }
    if (missing != nullptr) json["newest_request"] = order_json(*missing, kind);
    line(json.dump());
  }
}

}  // namespace reseq::observe
