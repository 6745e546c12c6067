#include "kafka/group_metadata.h"

#include <cstring>
#include <gtest/gtest.h>

namespace reseq::kafka {
namespace {

GroupMetadataHandle metadata(int generation, const char* member, const char* instance) {
  return GroupMetadataHandle(rd_kafka_consumer_group_metadata_new_with_genid("orders", generation, member, instance));
}

TEST(GroupMetadata, IsReadAsTheLoadedLibraryWritesIt) {
  for (const char* instance : {static_cast<const char*>(nullptr), "worker-1"}) {
    const auto handle = metadata(42, "member-7", instance);
    const auto membership = membership_of(*handle);
    ASSERT_TRUE(membership) << membership.error().message;
    EXPECT_EQ(membership.value().generation, 42);
    EXPECT_EQ(membership.value().group_id, "orders");
    EXPECT_EQ(membership.value().member_id, "member-7");
    EXPECT_TRUE(membership.value().fences());
  }
}

TEST(GroupMetadata, WithoutGenerationOrMemberDoesNotFence) {
  EXPECT_FALSE(membership_of(*metadata(-1, "member-7", "worker-1")).value().fences());
  EXPECT_FALSE(membership_of(*metadata(42, "", "worker-1")).value().fences());
  EXPECT_FALSE(membership_of(*GroupMetadataHandle(rd_kafka_consumer_group_metadata_new("orders"))).value().fences());
}

TEST(GroupMetadata, OfAnUnknownLayoutIsRefused) {
  std::string good = "CGMDv2:";
  const std::int32_t generation = 3;
  good.append(reinterpret_cast<const char*>(&generation), sizeof generation);
  good.append(std::string("g\0m\0\1", 5));
  ASSERT_TRUE(parse_membership(good));
  EXPECT_EQ(parse_membership(good).value().generation, 3);
  for (std::size_t cut = 0; cut < good.size(); ++cut) EXPECT_FALSE(parse_membership(good.substr(0, cut))) << cut;
  std::string other = good;
  other[5] = '3';
  ASSERT_FALSE(parse_membership(other));
  EXPECT_EQ(parse_membership(other).error().what_to_do, ErrorClass::kAbort);
}

}  // namespace
}  // namespace reseq::kafka
