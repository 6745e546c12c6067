#include "kafka/group_metadata.h"

#include <cstring>

#include "kafka/errors.h"

namespace reseq::kafka {

namespace {

constexpr std::string_view kMagic = "CGMDv2:";

Error unreadable() {
  return Error{ErrorClass::kAbort, 0, "group metadata: layout of this librdkafka is not known"};
}

}  // namespace

Result<Membership> parse_membership(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) return unreadable();
  bytes.remove_prefix(kMagic.size());
  Membership membership;
  if (bytes.size() < sizeof membership.generation) return unreadable();
  std::memcpy(&membership.generation, bytes.data(), sizeof membership.generation);
  bytes.remove_prefix(sizeof membership.generation);
  for (std::string* field : {&membership.group_id, &membership.member_id}) {
    const auto end = bytes.find('\0');
    if (end == std::string_view::npos) return unreadable();
    *field = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
  }
  if (bytes.empty()) return unreadable();
  return membership;
}

Result<Membership> membership_of(const rd_kafka_consumer_group_metadata_t& metadata) {
  void* bytes = nullptr;
  std::size_t size = 0;
  if (const ErrorHandle error(rd_kafka_consumer_group_metadata_write(&metadata, &bytes, &size)); error)
    return error_of(*error, "group metadata");
  auto membership = parse_membership({static_cast<const char*>(bytes), size});
  rd_kafka_mem_free(nullptr, bytes);
  return membership;
}

std::shared_ptr<const LibrdkafkaGroupMetadata> capture_group(rd_kafka_t& consumer) {
  GroupMetadataHandle handle(rd_kafka_consumer_group_metadata(&consumer));
  // What is missing or cannot be read does not fence; it is refused when offsets are sent.
  if (!handle) return std::make_shared<LibrdkafkaGroupMetadata>(std::move(handle), Membership{});
  auto membership = membership_of(*handle);
  return std::make_shared<LibrdkafkaGroupMetadata>(std::move(handle),
                                                   membership ? std::move(membership).value() : Membership{});
}

}  // namespace reseq::kafka
