// A row as a person reads it: targets by name, sequences as text of the configured kind, times in RFC 3339, versions as
// text because a double cannot hold them (schemas/admin.replies.schema.json, `document`).
// Thread rule: pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "model/ids.h"
#include "model/order.h"
#include "model/row.h"
#include "model/target.h"

namespace reseq::admin {

// Members keep the order in which they are written.
using Json = nlohmann::ordered_json;

struct DocumentContext {
  const TargetTable* targets = nullptr;
  SequenceKind sequence_kind = SequenceKind::kU64;
};

// Targets that got nothing for too long.
struct Neglected {
  TargetSet overdue;   // those that make the document overdue
  TargetSet starving;  // for longer than starvation_after_ms
};
// What is known of an order of the journal beside its row.
struct PlaceInQueue {
  std::string_view waits_for;  // empty: it does not wait
  bool stuck = false;
  UnixMs due;  // it may leave from then on: its own date, or behind its consolidation
};
// `places`: by the place in the journal; empty: nothing is known of them.
[[nodiscard]] Json document_json(std::string_view id, const Row& row, const Neglected& neglected,
                                 const DocumentContext& context, std::span<const PlaceInQueue> places = {});

[[nodiscard]] Json order_json(const Order& order, SequenceKind kind);

// RFC 3339 in UTC, with milliseconds.
[[nodiscard]] std::string time_text(UnixMs time);

// Sets `name`, or `name`_base64 when the bytes are no UTF-8.
void set_bytes(Json& object, const std::string& name, std::string_view bytes);

}  // namespace reseq::admin
