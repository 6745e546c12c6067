// What the page is given: pictures of an application, and ids as they come in an address.
#include <atomic>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "page/files.h"
#include "runtime/desk/look_up.h"
#include "runtime/desk/page_desk.h"

namespace reseq::runtime {
namespace {

using admin::Json;
using testing::HasSubstr;
using testing::Not;

Json reply(const std::string& instance, const Json& partitions) {
  return {{"application", "shop"},
          {"instance", instance},
          {"host", "h"},
          {"version", "0.1.0"},
          {"workers", 1},
          {"time", "2026-01-02T03:04:05.000Z"},
          {"partitions_total", 3},
          {"lateness", Json::array({{{"count", 2}, {"up_to_ms", 512}}})},
          {"partitions", partitions}};
}

TEST(Picture, HasTheNewestOwnerOfEachPartitionAndWhatEachInstanceTells) {
  admin::Answers answers;
  answers.add(reply("1", Json::array({{{"partition", 0}, {"generation", 2}}, {{"partition", 1}, {"generation", 1}}})));
  answers.add(reply("2", Json::array({{{"partition", 0}, {"generation", 3}}})));
  const Json picture = picture_json(answers, "1", "", Milliseconds(2'000), UnixMs(1'000));
  EXPECT_EQ(picture["instance"], "1");
  EXPECT_EQ(picture["time"], "1970-01-01T00:00:01.000Z");
  EXPECT_EQ(picture["every_ms"], 2'000);
  EXPECT_EQ(picture["partitions_total"], 3);
  EXPECT_FALSE(picture.contains("trouble"));
  ASSERT_EQ(picture["instances"].size(), 2U);
  EXPECT_EQ(picture["instances"][1]["instance"], "2");
  EXPECT_EQ(picture["instances"][1]["lateness"][0]["count"], 2);
  EXPECT_FALSE(picture["instances"][1].contains("partitions")) << "they are told once";
  ASSERT_EQ(picture["partitions"].size(), 2U);
  EXPECT_EQ(picture["partitions"][0]["instance"], "2");
  EXPECT_EQ(picture["partitions"][1]["instance"], "1");
}

TEST(Picture, SaysWhyOthersCannotBeAsked) {
  admin::Answers answers;
  answers.add(reply("1", Json::array()));
  EXPECT_EQ(picture_json(answers, "1", "no right", Milliseconds(1), UnixMs(0))["trouble"], "no right");
}

TEST(LookUp, TakesAnyIdAsBase64url) {
  EXPECT_EQ(id_of("YQ"), "a");
  EXPECT_EQ(id_of("YWI"), "ab");
  EXPECT_EQ(id_of("YWJj"), "abc");
  EXPECT_EQ(id_of("__7_"), "\xFF\xFE\xFF");
  EXPECT_EQ(id_of("-_-_"), "\xFB\xFF\xBF");
  EXPECT_EQ(id_of(std::string(4095 / 3 * 4, 'A') + "AA"), std::string(4096, '\0'));
  for (const std::string& wrong :
       {std::string(), std::string("A"), std::string("YQ=="), std::string("YR"), std::string("+/+/"),
        std::string("a b"), std::string("YQ\0", 3), std::string(4095 / 3 * 4, 'A') + "AAA", std::string(100'000, 'A')})
    EXPECT_EQ(id_of(wrong), std::nullopt) << wrong.substr(0, 20);
}

TEST(LookUp, RefusesWhatIsNoIdWithoutAskingAnybody) {
  const std::atomic<bool> stop = false;
  const config::Settings nowhere;
  EXPECT_EQ(look_up(nowhere, {}, {}, stop).status, 400);
  const http::Answer answer = look_up(nowhere, {}, {.parameters = {{"id", "<script>"}}}, stop);
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(answer.body, Not(HasSubstr("<script>")));
}

// What the Content-Security-Policy forbids would be dead, and a file of another host would not come.
TEST(Files, AreWholeAndNeedNothingElse) {
  ASSERT_FALSE(page::files().empty());
  EXPECT_EQ(page::files().front().path, "/");
  EXPECT_THAT(std::string(page::files().front().body), testing::EndsWith("</html>\n"));
  for (const page::File& file : page::files()) {
    const std::string text(file.body);
    for (const char* never : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", " style=\"",
                              "onclick=", "https://", "@import", "localStorage", "<script>"})
      EXPECT_THAT(text, Not(HasSubstr(never))) << file.path;
  }
}

}  // namespace
}  // namespace reseq::runtime
