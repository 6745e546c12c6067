// What a PostgresStore does beside writing batches: positions, questions, and removing old deletes.
#include <chrono>

#include "consumers/postgres/postgres_store.h"

namespace reseq::postgres {
namespace {

constexpr std::chrono::hours kTendEvery{1};
constexpr std::size_t kForgottenAtOnce = 10'000;

// A marker says why a document is not there, for as long as that is so. Without both columns it looks like a delete.
std::string deletes_of(const Layout& layout) {
  std::string condition = "deleted";
  if (writes_errors(layout)) condition += " AND error IS NULL";
  if (layout.payload != PayloadAs::kNone) condition += " AND payload IS NULL";
  return condition;
}

}  // namespace

Result<std::map<Partition, Offset>> PostgresStore::positions(std::span<const Partition> partitions) {
  ArrayWriter numbers(kInt4Type, partitions.size());
  for (const Partition partition : partitions) numbers.add_int4(partition.value());
  const std::vector<Parameter> parameters = {{kTextType, settings_.topic}, {kInt4ArrayType, numbers.take()}};
  auto rows = run("SELECT partition::bigint, next FROM " + quoted_name(positions_table(settings_.layout)) +
                      " WHERE topic = $1 AND partition = ANY($2)",
                  parameters);
  if (!rows) return rows.error();
  std::map<Partition, Offset> known;
  for (std::size_t i = 0; i < rows.value().count(); ++i) {
    const auto partition = read_int8(rows.value().at(i, 0).value_or(""));
    const auto next = read_int8(rows.value().at(i, 1).value_or(""));
    if (!partition || !next) return Error{ErrorClass::kInvalid, 0, "the table of positions has other columns"};
    known[Partition(static_cast<std::int32_t>(*partition))] = Offset(*next);
  }
  return known;
}

Result<> PostgresStore::begin_at(Partition partition, std::optional<Offset> known, Offset from) {
  if (known == from) return Done{};
  const std::string table = quoted_name(positions_table(settings_.layout));
  std::vector<Parameter> parameters = {
      {kTextType, settings_.topic}, {kInt4Type, int4_bytes(partition.value())}, {kInt8Type, int8_bytes(from.value())}};
  if (known) parameters.push_back({kInt8Type, int8_bytes(known->value())});
  auto rows = run(known ? "UPDATE " + table + " SET next = $3 WHERE topic = $1 AND partition = $2 AND next = $4"
                        : "INSERT INTO " + table +
                              " (topic, partition, next) VALUES ($1, $2, $3) "
                              "ON CONFLICT DO NOTHING",
                  parameters);
  if (!rows) return rows.error();
  if (rows.value().affected() == 1) return Done{};
  return Error{ErrorClass::kRetriable, 0,
               "the position of partition " + std::to_string(partition.value()) +
                   " has changed meanwhile: somebody else has begun to read it"};
}

Result<bool> PostgresStore::is_empty() {
  auto rows = run("SELECT NOT EXISTS (SELECT FROM " + quoted_name(settings_.layout.table) + ")");
  if (!rows) return rows.error();
  return rows.value().at(0, 0) == std::string_view("\1", 1);
}

Result<> PostgresStore::ask() {
  auto there = exists(settings_.layout.table);
  if (!there) return there.error();
  if (there.value()) return Done{};
  return Error{ErrorClass::kInvalid, 0, place() + " is not there any more"};
}

Result<> PostgresStore::tend() {
  using std::chrono::duration_cast;
  const auto now = std::chrono::steady_clock::now();
  if (settings_.forget_deletes_days == 0 || (tended_ != decltype(tended_)() && now - tended_ < kTendEvery))
    return Done{};
  tended_ = now;
  const auto oldest = std::chrono::system_clock::now() - std::chrono::hours(24) * settings_.forget_deletes_days;
  const std::int64_t ms = duration_cast<std::chrono::milliseconds>(oldest.time_since_epoch()).count();
  const auto version = static_cast<std::int64_t>(version_at(UnixMs(ms)).value());
  const std::vector<Parameter> parameters = {{kInt8Type, int8_bytes(version)}};
  const std::string table = quoted_name(settings_.layout.table);
  const std::string which = deletes_of(settings_.layout) + " AND version < $1";
  const std::string statement = "DELETE FROM " + table + " WHERE id IN (SELECT id FROM " + table + " WHERE " + which +
                                " LIMIT " + std::to_string(kForgottenAtOnce) + ") AND " + which;
  while (true) {
    auto rows = run(statement, parameters);
    if (!rows && interrupted_) return Done{};
    if (!rows) return rows.error();
    if (rows.value().affected() < kForgottenAtOnce) return Done{};
  }
}

}  // namespace reseq::postgres
