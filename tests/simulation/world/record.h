// Records as the programs around the resequencer write and read them: a stored record made of headers by name.
// Thread rule: plain functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/simulation/kafka/log.h"

namespace reseq::simulation {

inline void set_header(StoredRecord& record, std::string_view name, std::optional<std::string> value) {
  std::erase_if(record.headers, [&](const StoredHeader& one) { return one.name == name; });
  record.headers.push_back({std::string(name), std::move(value)});
}

inline void remove_header(StoredRecord& record, std::string_view name) {
  std::erase_if(record.headers, [&](const StoredHeader& one) { return one.name == name; });
}

// Of a doubled header the last counts. Null: it is absent, or its value is.
inline const std::string* header_of(const StoredRecord& record, std::string_view name) {
  for (auto one = record.headers.rbegin(); one != record.headers.rend(); ++one)
    if (one->name == name) return one->value ? &*one->value : nullptr;
  return nullptr;
}

}  // namespace reseq::simulation
