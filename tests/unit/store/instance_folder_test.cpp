#include "store/instance_folder.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rows.h"

namespace reseq::store {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const Owner kShop{"shop", "cluster-1"};

Error error_of(const Result<std::unique_ptr<InstanceFolder>>& opened) {
  if (!opened) return opened.error();
  ADD_FAILURE() << "was opened";
  return {};
}

TEST(InstanceFolder, HasOneHolderWhosePidIsTold) {
  const Place place;
  auto first = InstanceFolder::open(place.folder(), kShop);
  ASSERT_TRUE(first.ok()) << first.error().message;
  const Error second = error_of(InstanceFolder::open(place.folder(), kShop));
  EXPECT_TRUE(is_held(second));
  EXPECT_THAT(second.message, HasSubstr("is in use by process " + std::to_string(::getpid()) + ":"));
  EXPECT_FALSE(InstanceFolder::look(place.folder(), kShop).ok());
  first.value().reset();
  EXPECT_TRUE(InstanceFolder::look(place.folder(), kShop).ok());
  EXPECT_TRUE(InstanceFolder::open(place.folder(), kShop).ok());
}

TEST(InstanceFolder, BelongsToOneApplicationOfOneCluster) {
  const Place place;
  ASSERT_TRUE(InstanceFolder::open(place.folder(), kShop).ok());
  for (const Owner& other : {Owner{"shop", "cluster-2"}, Owner{"other", "cluster-1"}}) {
    const Error refused = error_of(InstanceFolder::open(place.folder(), other));
    EXPECT_EQ(refused.what_to_do, ErrorClass::kInvalid);
    EXPECT_THAT(refused.message, AllOf(HasSubstr("belongs to application shop cluster cluster-1"),
                                       HasSubstr("not to application " + other.application_id)));
    EXPECT_FALSE(InstanceFolder::look(place.folder(), other).ok());
  }
}

TEST(InstanceFolder, IsLookedAtWithoutBeingMade) {
  const Place place;
  EXPECT_TRUE(InstanceFolder::look(place.folder(), kShop).ok());
  EXPECT_NE(::access(place.folder().c_str(), F_OK), 0) << "was created";
  const auto nowhere = InstanceFolder::look("/dev/null/state", kShop);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().what_to_do, ErrorClass::kInvalid) << nowhere.error().message;
}

TEST(InstanceFolder, IsNotALink) {
  const Place place;
  ASSERT_TRUE(InstanceFolder::open(place.path() + "/real", kShop).ok());
  ASSERT_EQ(::symlink((place.path() + "/real").c_str(), (place.path() + "/link").c_str()), 0);
  const Error refused = error_of(InstanceFolder::open(place.path() + "/link", kShop));
  EXPECT_THAT(refused.message, HasSubstr("name the directory itself"));
}

}  // namespace
}  // namespace reseq::store
