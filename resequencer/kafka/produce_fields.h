// ProduceFields: the arguments of rd_kafka_produceva(). Keys, payloads and headers are not copied here.
// Thread rule: one thread.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/assert.h"
#include "kafka/handles.h"

namespace reseq::kafka {

class ProduceFields {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): half a KB, of which what counts is set
  ProduceFields() = default;

  // To be set by the caller.
  rd_kafka_vu_t& add(rd_kafka_vtype_t type) {
    RESEQ_ASSERT(count_ < fields_.size(), "more fields than a record can have");
    fields_[count_].vtype = type;
    return fields_[count_++];
  }
  // Key or payload. Null is not empty.
  void add_bytes(rd_kafka_vtype_t type, const std::optional<std::string_view>& bytes) {
    const char* start = !bytes ? nullptr : bytes->data() == nullptr ? "" : bytes->data();
    rd_kafka_vu_t& field = add(type);
    field.u.mem.ptr = const_cast<char*>(start);  // NOLINT(cppcoreguidelines-pro-type-const-cast): it is only read
    field.u.mem.size = bytes ? bytes->size() : 0;
  }

  [[nodiscard]] const rd_kafka_vu_t* data() const { return fields_.data(); }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  std::array<rd_kafka_vu_t, 7> fields_;
  std::size_t count_ = 0;
};

}  // namespace reseq::kafka
