#include "codec/base64.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace reseq::codec {
namespace {

// RFC 4648, section 10.
TEST(Base64, IsThatOfTheRfc) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

RC_GTEST_PROP(Base64, ComesBackAsItWas, (const std::string& bytes)) {
  RC_ASSERT(parse_base64(base64(bytes)) == bytes);
}

TEST(Base64, RefusesWhatIsNone) {
  for (const char* text :
       {"Z", "Zg", "Zg=", "Zm9v=", "====", "Z===", "Zg==Zg==", "Zm 9", "Zm9-", "Zm-_", "Zh==", "Zm9="})
    EXPECT_FALSE(parse_base64(text)) << text;
}

}  // namespace
}  // namespace reseq::codec
