// PlainRecord: a consumed record with its topic by name, for programs beside the resequencer.
// Thread rule: may be moved to another thread; views stay valid until it is destroyed. It must be destroyed before the
// client that made it.
#pragma once

#include <boost/container/small_vector.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/header.h"
#include "model/ids.h"

namespace reseq::kafka {

struct PlainRecord {
  std::string_view topic;
  Partition partition;
  Offset offset;
  UnixMs timestamp;  // 0 = none
  std::optional<std::string_view> key;
  std::optional<std::string_view> payload;  // absent = null
  boost::container::small_vector<Header, 6> headers;
  std::unique_ptr<void, void (*)(void*)> owner{nullptr, [](void*) {}};
};

// A place in a log: next offset to read, end, or committed offset.
struct PlainOffset {
  std::string topic;
  Partition partition;
  Offset offset;  // kNoOffset = none
  friend bool operator==(const PlainOffset&, const PlainOffset&) = default;
};

}  // namespace reseq::kafka
