// Record: one committed record of a topic, as views into the history that keeps its bytes.
// Thread rule: plain functions.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/header.h"
#include "model/ids.h"

namespace reseq::judge {

// One partition of a topic; topics are numbered as in runtime::Topics.
struct Place {
  std::size_t topic = 0;
  Partition partition;
  friend auto operator<=>(const Place&, const Place&) = default;
};

using Headers = boost::container::small_vector<Header, 8>;

struct Record {
  Offset offset;
  UnixMs timestamp;
  std::optional<std::string_view> key;
  std::optional<std::string_view> payload;
  Headers headers;
};

// Of a doubled header the last counts. None: it is absent, or its value is.
[[nodiscard]] std::optional<std::string_view> header_of(const Record& record, std::string_view name);
// The same as a number; 0 when there is none.
[[nodiscard]] std::uint64_t number_of(const Record& record, std::string_view name);

// 128 bits over everything but the offset: two records that have the same are taken for the same.
[[nodiscard]] Digest fingerprint(const Record& record);

// One line for a person; long values are cut.
[[nodiscard]] std::string describe(const Record& record);

}  // namespace reseq::judge
