// WrittenState: changelogs and copies on disk as somebody else would have left them, put together from the records of a
// real run with the product's own codec and store.
// Thread rule: one thread. Whatever cannot be done throws.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kafka/settings.h"
#include "model/partition_state.h"
#include "model/target.h"

namespace reseq::test {

struct LogRecord {
  std::int64_t offset = 0;
  std::string key;
  std::optional<std::string> value;

  [[nodiscard]] bool is_meta() const;
  [[nodiscard]] bool is_identity() const;
  [[nodiscard]] bool is_document() const;
};
// Of one partition, in order.
using Log = std::vector<LogRecord>;

// All visible records of the changelog, by partition.
[[nodiscard]] std::map<int, Log> read_changelog(const kafka::Connection& connection, const std::string& topic);

// The records up to and with the n-th meta row, from 1.
[[nodiscard]] Log up_to_meta(const Log& log, std::size_t n);
[[nodiscard]] std::size_t metas_of(const Log& log);

// The same record with something else in it. REQUIRES: is_meta(), is_identity().
[[nodiscard]] LogRecord changed_meta(const LogRecord& record, const std::function<void(Meta&)>& change);
[[nodiscard]] LogRecord changed_identity(const LogRecord& record, const std::function<void(Identity&)>& change);

// A partition that was born and has seen nothing yet: identity, target table, meta row.
[[nodiscard]] Log born(const Identity& identity, const TargetTable& targets, const Meta& meta);

// Writes the records to a partition of the topic, outside of any transaction.
void write_log(const kafka::Connection& connection, const std::string& topic, int partition, const Log& log);

// Makes the copy in `folder` the state that these records give, closed clean.
void write_copy(const std::string& folder, const Log& log);

// Changes one byte of a file, `behind` bytes behind the end of every place where `text` stands after `before`.
// Returns how many.
int flip_bytes(const std::string& file, const std::string& text, std::size_t behind, const std::string& before = "");

}  // namespace reseq::test
