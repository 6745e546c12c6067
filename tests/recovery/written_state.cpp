#include "tests/recovery/written_state.h"

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/arena.h"
#include "changelog/batch_rows.h"
#include "codec/keys.h"
#include "codec/rows.h"
#include "kafka/plain_producer.h"
#include "store/partition_store.h"
#include "tests/e2e/outputs.h"
#include "tests/support/good.h"

namespace reseq::test {

namespace {

constexpr Milliseconds kFlushLimit{30'000};

template <typename T>
T decoded(codec::Decoded<T> row) {
  if (!std::holds_alternative<T>(row)) throw std::runtime_error("a row that cannot be read");
  return std::get<T>(std::move(row));
}

LogRecord record_of(const store::Change& change, std::int64_t offset) {
  return {offset, std::string(change.key), std::string(change.value.value())};
}

}  // namespace

bool LogRecord::is_meta() const {
  return key == codec::meta_key();
}
bool LogRecord::is_identity() const {
  return key == codec::identity_key();
}
bool LogRecord::is_document() const {
  return !is_meta() && !is_identity() && key != codec::target_table_key();
}

std::map<int, Log> read_changelog(const kafka::Connection& connection, const std::string& topic) {
  std::map<int, Log> logs;
  read_all(connection, topic, [&](const kafka::PlainRecord& record) {
    logs[record.partition.value()].push_back(
        {record.offset.value(), std::string(record.key.value_or("")),
         record.payload ? std::optional(std::string(*record.payload)) : std::nullopt});
  });
  return logs;
}

Log up_to_meta(const Log& log, std::size_t n) {
  Log part;
  for (const LogRecord& record : log) {
    part.push_back(record);
    if (record.is_meta() && --n == 0) return part;
  }
  throw std::runtime_error("a changelog with too few transactions");
}

std::size_t metas_of(const Log& log) {
  std::size_t metas = 0;
  for (const LogRecord& record : log) metas += record.is_meta() ? 1U : 0U;
  return metas;
}

LogRecord changed_meta(const LogRecord& record, const std::function<void(Meta&)>& change) {
  Meta meta = decoded<Meta>(codec::decode_meta(record.key, record.value.value()));
  change(meta);
  Arena arena;
  return record_of(changelog::meta_row(meta, arena), record.offset);
}

LogRecord changed_identity(const LogRecord& record, const std::function<void(Identity&)>& change) {
  Identity identity = decoded<Identity>(codec::decode_identity(record.key, record.value.value()));
  change(identity);
  Arena arena;
  return record_of(changelog::identity_row(identity, arena), record.offset);
}

Log born(const Identity& identity, const TargetTable& targets, const Meta& meta) {
  Arena arena;
  Log log = {record_of(changelog::identity_row(identity, arena), 0),
             record_of(changelog::targets_row(targets, arena), 1)};
  store::PartitionStore store;
  for (const LogRecord& record : log) good(store.restore({record.key, record.value}, Offset(record.offset)));
  Meta complete = meta;
  complete.summary = store.summary();
  log.push_back(record_of(changelog::meta_row(complete, arena), 2));
  return log;
}

void write_log(const kafka::Connection& connection, const std::string& topic, int partition, const Log& log) {
  const auto producer = good(kafka::PlainProducer::open(connection));
  for (const LogRecord& record : log)
    good(producer->send(topic, record.key, record.value, {}, std::nullopt, Partition(partition)));
  good(producer->flush(kFlushLimit));
}

void write_copy(const std::string& folder, const Log& log) {
  auto taken = good(store::StateFolder::open(folder, store::boot_id()));
  good(taken->wipe());
  const auto store = good(store::PartitionStore::open(std::move(taken), store::DiskSettings()));
  for (const LogRecord& record : log) {
    const std::optional<std::string_view> value = record.value;
    good(store->restore({record.key, value}, Offset(record.offset)));
  }
  good(store->close_clean());
}

int flip_bytes(const std::string& file, const std::string& text, std::size_t behind, const std::string& before) {
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  int flipped = 0;
  for (std::size_t at = bytes.find(text); at != std::string::npos; at = bytes.find(text, at + 1)) {
    const std::size_t where = at + text.size() + behind;
    if (where >= bytes.size() || at < before.size() || bytes.compare(at - before.size(), before.size(), before) != 0)
      continue;
    bytes[where] = static_cast<char>(bytes[where] ^ 0x10);
    ++flipped;
  }
  std::ofstream(file, std::ios::binary | std::ios::in).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return flipped;
}

}  // namespace reseq::test
