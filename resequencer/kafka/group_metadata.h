// Membership in the group as it was when partitions were assigned: what a transactional offset commit is fenced by.
// A membership without generation or member id would be accepted by the broker without any check, so
// it is refused here.
// Thread rule: plain values, read-only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "kafka/cluster.h"
#include "kafka/handles.h"

namespace reseq::kafka {

struct Membership {
  std::int32_t generation = -1;
  std::string group_id;
  std::string member_id;
  [[nodiscard]] bool fences() const { return generation >= 0 && !member_id.empty(); }
};

// Of the bytes that rd_kafka_consumer_group_metadata_write() makes:
//   "CGMDv2:" generation (int32, of this machine) group id NUL member id NUL instance-is-null u8 [instance id NUL]
[[nodiscard]] Result<Membership> parse_membership(std::string_view bytes);
[[nodiscard]] Result<Membership> membership_of(const rd_kafka_consumer_group_metadata_t& metadata);

class LibrdkafkaGroupMetadata final : public GroupMetadata {
 public:
  LibrdkafkaGroupMetadata(GroupMetadataHandle handle, Membership membership)
      : handle_(std::move(handle)), membership_(std::move(membership)) {}

  [[nodiscard]] const rd_kafka_consumer_group_metadata_t* handle() const { return handle_.get(); }
  [[nodiscard]] const Membership& membership() const { return membership_; }

 private:
  GroupMetadataHandle handle_;
  Membership membership_;
};

// What the client knows now. REQUIRES: called in the rebalance callback that assigns partitions.
[[nodiscard]] std::shared_ptr<const LibrdkafkaGroupMetadata> capture_group(rd_kafka_t& consumer);

}  // namespace reseq::kafka
