// Fold: the rows that a changelog leaves, one record after the other, and what every meta row on the way says of them.
// Thread rule: one thread. Rows are views into the history.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "codec/hash.h"
#include "model/partition_state.h"
#include "store/checkpoint_record.h"
#include "tests/judge/record.h"

namespace reseq::judge {

class Fold {
 public:
  // What is wrong with the record, or empty: it cannot be a row, or it is a meta row whose digest or counts are not
  // those of the rows in front of it.
  [[nodiscard]] std::string take(const Record& record);

  // Last record + 1.
  [[nodiscard]] Offset position() const { return position_; }
  // By key, all but the meta row.
  [[nodiscard]] const std::map<std::string_view, std::string_view>& rows() const { return rows_; }
  [[nodiscard]] const Summary& summary() const { return summary_; }
  [[nodiscard]] const std::optional<Meta>& meta() const { return meta_; }
  [[nodiscard]] std::string_view meta_bytes() const { return meta_bytes_; }
  // None: nothing was taken.
  [[nodiscard]] const std::optional<codec::KeyedHash>& hash() const { return hash_; }

 private:
  [[nodiscard]] std::string take_meta(const Record& record);
  void count(std::string_view key, std::string_view value, bool in);

  std::optional<codec::KeyedHash> hash_;
  std::map<std::string_view, std::string_view> rows_;
  Summary summary_;
  std::optional<Meta> meta_;
  std::string_view meta_bytes_;
  Offset position_{0};
};

}  // namespace reseq::judge
