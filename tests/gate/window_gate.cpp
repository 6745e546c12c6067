#include "tests/gate/window_gate.h"

#include <array>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "base/big_endian.h"
#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/header_names.h"
#include "codec/held_rows.h"
#include "codec/keys.h"
#include "codec/task_row.h"

namespace reseq::gate {
namespace {

constexpr std::array<engine::AgendaKind, 2> kAgenda = {{
    {kOpen, "open", {.requests = true, .control = true}},
    {kDrain, "drain", {}},
}};
constexpr std::size_t kNumberBytes = 8;

std::string bytes_of(UnixMs time) {
  std::string bytes;
  append_big_endian(static_cast<std::uint64_t>(time.value()), bytes);
  return bytes;
}

UnixMs time_in(std::string_view bytes) {
  return UnixMs(static_cast<std::int64_t>(read_big_endian(bytes)));
}

std::string task_of(UnixMs window) {
  return codec::task_key(kGate, bytes_of(window));
}

// What stands in front of the rank.
std::string_view head_of(const std::string& key) {
  return std::string_view(key).substr(0, key.size() - kNumberBytes);
}

// The first window that is over at or behind `from`, and has no task yet. `has_task`: of a key.
template <typename HasTask>
std::optional<UnixMs> first_window(const engine::StateView& view, UnixMs from, const HasTask& has_task) {
  for (;;) {
    std::optional<UnixMs> found;
    view.index(kIndex, bytes_of(from), 1, [&](std::string_view entry, std::string_view) {
      found = time_in(entry);
      return true;
    });
    if (!found || !has_task(task_of(*found))) return found;
    from = UnixMs(found->value() + 1);
  }
}

// None: the disk cannot be read, and nothing of the batch will be.
std::optional<codec::HeldRow> held_row(std::string_view key, std::optional<std::string_view> value) {
  if (!value) return std::nullopt;
  const auto decoded = codec::decode_held(key, *value);
  const auto* held = std::get_if<codec::HeldRow>(&decoded);
  return held != nullptr ? std::optional(*held) : std::nullopt;
}

}  // namespace

std::string encode_note(DocumentId id, const Forward& forward) {
  std::string note;
  codec::ByteWriter writer(note);
  writer.bytes(id);
  writer.varint(forward.order.epoch.value());
  writer.bytes(forward.order.sequence.bytes());
  writer.varint(forward.order.revision.value());
  writer.u8(static_cast<std::uint8_t>(forward.op));
  writer.varint(forward.targets.bits());
  writer.finish();
  return note;
}

Note decode_note(std::string_view bytes) {
  codec::ByteReader reader(bytes);
  Note note;
  note.id = reader.bytes();
  note.forward.order.epoch = Epoch(static_cast<std::uint32_t>(reader.varint(UINT32_MAX)));
  note.forward.order.sequence = Sequence(reader.bytes());
  note.forward.order.revision = Revision(reader.varint());
  note.forward.op = static_cast<Op>(reader.u8());
  note.forward.targets = TargetSet(reader.varint());
  RESEQ_ASSERT(reader.ok(), "a note that cannot be read");
  return note;
}

std::span<const engine::AgendaKind> WindowGate::agenda() const {
  return kAgenda;
}

UnixMs WindowGate::window_end(UnixMs now) const {
  return UnixMs((now.value() / settings_.window.value() + 1) * settings_.window.value());
}

std::optional<UnixMs> WindowGate::next(std::uint8_t kind, const engine::Moment& moment) const {
  const engine::StateView& view = moment.view;
  if (kind == kOpen)
    return first_window(view, UnixMs(), [&](const std::string& task) { return view.row(task).has_value(); });
  std::optional<UnixMs> next;
  const std::string any = task_of(UnixMs());
  view.scan(head_of(any), {}, 1, [&](std::string_view, std::string_view) {
    next = UnixMs();
    return true;
  });
  return next;
}

std::optional<Hold> WindowGate::holds(const engine::Leaving& leaving, Arena& arena) const {
  if (leaving.position.value() % settings_.every != 0) return std::nullopt;
  std::string rank = bytes_of(window_end(leaving.now));
  Hold hold;
  hold.entries = {{kIndex, arena.copy(rank)}};
  append_big_endian(static_cast<std::uint64_t>(leaving.position.value()), rank);
  hold.key = arena.copy(codec::held_key(kGate, rank));
  hold.note = arena.copy(encode_note(leaving.id, leaving.forward));
  hold.reference = leaving.request.work_bytes > settings_.reference_above;
  return hold;
}

void WindowGate::take(engine::Turn& turn, engine::GateBatch& batch) const {
  if (turn.kind() == kOpen) return open(turn, batch);
  drain(turn, batch);
}

void WindowGate::open(engine::Turn& turn, engine::GateBatch& batch) const {
  const auto has_task = [&](const std::string& task) { return batch.rows().find(task).has_value(); };
  for (auto window = first_window(batch.view(), UnixMs(), has_task); window && *window <= turn.until();
       window = first_window(batch.view(), *window, has_task)) {
    if (!turn.take(0)) return;
    const std::string task = task_of(*window);
    std::string value;
    codec::encode_task(task, {}, value);
    batch.rows().put(task, value);
  }
}

void WindowGate::drain(engine::Turn& turn, engine::GateBatch& batch) const {
  std::vector<std::string> tasks;
  const std::string any = task_of(UnixMs());
  batch.rows().scan(head_of(any), {}, SIZE_MAX, [&](std::string_view key, std::string_view) {
    tasks.emplace_back(key);
    return true;
  });
  for (const std::string& task : tasks)
    if (!drain(task, time_in(std::string_view(task).substr(head_of(task).size())), turn, batch)) return;
}

bool WindowGate::drain(std::string_view task, UnixMs window, engine::Turn& turn, engine::GateBatch& batch) const {
  const auto decoded = codec::decode_task(task, batch.rows().find(task).value_or(""));
  const auto* found = std::get_if<codec::TaskRow>(&decoded);
  if (found == nullptr) return false;
  codec::TaskRow row = *found;
  std::vector<std::string> next;
  batch.rows().scan(codec::held_key(kGate, bytes_of(window)), row.cursor, settings_.drained_max,
                    [&](std::string_view key, std::string_view) {
                      next.emplace_back(key);
                      return true;
                    });
  bool room = true;
  std::size_t done = 0;
  for (; done < next.size() && (room = let_through(next[done], turn, batch)); ++done) row.cursor = next[done];
  const bool ended = done == next.size() && next.size() < settings_.drained_max;
  if (ended && turn.take(0)) {
    batch.rows().remove(task);
    return true;
  }
  if (done > 0) {
    std::string value;
    codec::encode_task(task, row, value);
    batch.rows().put(task, value);
  }
  return room && !ended;
}

// False: the turn has no room for it, or its row cannot be read.
bool WindowGate::let_through(const std::string& key, engine::Turn& turn, engine::GateBatch& batch) const {
  const auto held = held_row(key, batch.rows().find(key));
  if (!held || !turn.take(*held)) return false;
  const Note note = decode_note(held->note);
  const Partition other((held->partition.value() + 1) % settings_.partitions);
  const std::int32_t own = held->partition.value();
  const Offset offset = held->offset;
  if (!batch.let_through(key, note.id, note.forward)) return true;
  const std::string id = "gate-" + std::to_string(own) + "-" + std::to_string(offset.value());
  const std::string to = std::to_string(other.value());
  const std::array<Header, 4> headers = {{{codec::header::kControl, "resume"},
                                          {codec::header::kControlId, id},
                                          {codec::header::kControlPartition, to},
                                          {codec::header::kControlDryRun, "true"}}};
  batch.generate({Role::kControl, std::nullopt, std::nullopt, headers}, other);
  return true;
}

}  // namespace reseq::gate
