#include "admin/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace reseq::admin {
namespace {

using testing::HasSubstr;

std::string refusal(const std::string& json) {
  const auto parsed = parse_request(json);
  const auto* refused = std::get_if<Refused>(&parsed);
  return refused != nullptr ? std::string(name_of(refused->why)) + " " + refused->detail : "none";
}

template <typename Wanted>
Wanted query_of(const std::string& json) {
  const auto parsed = parse_request(json);
  const auto* request = std::get_if<Request>(&parsed);
  const auto* query = request != nullptr ? std::get_if<Wanted>(&request->query) : nullptr;
  EXPECT_NE(query, nullptr) << json << " " << refusal(json);
  return query != nullptr ? *query : Wanted{};
}

TEST(Query, IsReadWithItsDefaults) {
  const auto list = query_of<ListQuery>(R"({"protocol":1,"query":"list"})");
  EXPECT_FALSE(list.partition);
  EXPECT_EQ(list.state, State::kAny);
  EXPECT_EQ(list.documents_max, kPageDocumentsDefault);
  const auto parsed = parse_request(R"({"protocol":1,"query":"stats"})");
  EXPECT_EQ(std::get<Request>(parsed).timeout, kTimeoutDefault);
}

TEST(Query, KnowsTheStatesOfTheQueueByTheirNames) {
  for (const State state : {State::kWaiting, State::kProcessing, State::kStuck}) {
    EXPECT_TRUE(is_of_the_queue(state));
    const auto read = parse_request(R"({"protocol":1,"query":"list","state":")" + std::string(name_of(state)) + "\"}");
    EXPECT_EQ(std::get<ListQuery>(std::get<Request>(read).query).state, state);
  }
  EXPECT_EQ(name_of(State::kWaiting), "waiting");
  EXPECT_EQ(name_of(State::kProcessing), "processing");
  EXPECT_EQ(name_of(State::kStuck), "stuck");
  for (const State state : {State::kAny, State::kLive, State::kOverdue, State::kStarving, State::kCompleted})
    EXPECT_FALSE(is_of_the_queue(state));
}

TEST(Query, KnowsTheStatesOfLanesByTheirNames) {
  for (const State state : {State::kHeld, State::kGap}) {
    EXPECT_TRUE(is_of_lanes(state));
    EXPECT_FALSE(is_of_the_queue(state));
    EXPECT_FALSE(is_of_failures(state));
    const auto read = parse_request(R"({"protocol":1,"query":"list","state":")" + std::string(name_of(state)) + "\"}");
    EXPECT_EQ(std::get<ListQuery>(std::get<Request>(read).query).state, state);
  }
  EXPECT_EQ(name_of(State::kHeld), "held");
  EXPECT_EQ(name_of(State::kGap), "gap");
  EXPECT_FALSE(is_of_lanes(State::kFailed));
}

TEST(Query, AsksForWhatFailedOfAnErrorThatMayBeNoText) {
  ListQuery list;
  list.state = State::kFailed;
  for (const std::string& error : {std::string("no PDF"), std::string("\xff\0", 2), std::string()}) {
    for (const WantedError& wanted : {WantedError{error}, WantedError{{}, error}}) {
      list.error = wanted;
      const auto read = parse_request(write_request({list, Milliseconds(7)}));
      EXPECT_EQ(std::get<ListQuery>(std::get<Request>(read).query).error, wanted);
    }
  }
}

TEST(WantedError, FitsWhatHasItSomewhereOrWhatIsShownAsIt) {
  EXPECT_TRUE(WantedError().fits(""));
  EXPECT_TRUE(WantedError{"PDF"}.fits("no PDF"));
  EXPECT_FALSE(WantedError{"PDF"}.fits("no pdf"));
  const auto shown = [](const std::string& text) { return WantedError{{}, text}; };
  EXPECT_TRUE(shown("no PDF").fits("no PDF"));
  EXPECT_FALSE(shown("no PDF").fits("no PDF: page 7")) << "what begins so is another error";
  EXPECT_FALSE(shown("no PDF").fits(""));
  EXPECT_TRUE(shown("").fits("")) << "nothing was said";
  EXPECT_FALSE(shown("").fits("no PDF"));
  const std::string long_text(kShownErrorBytes, 'x');
  EXPECT_TRUE(shown(long_text).fits(long_text + "y")) << "it is shown so";
  EXPECT_TRUE(shown(long_text + "y").fits(long_text + "y"));
  EXPECT_FALSE(shown(long_text + "y").fits(long_text + "z"));
  EXPECT_TRUE(shown(long_text.substr(1)).fits(long_text.substr(1) + "ä")) << "no character is cut";
}

TEST(Query, TakesAnIdThatIsNoTextInBase64) {
  EXPECT_EQ(query_of<DocumentQuery>(R"({"protocol":1,"query":"document","id":"ä"})").id, "ä");
  EXPECT_EQ(query_of<DocumentQuery>(R"({"protocol":1,"query":"document","id_base64":"/wA="})").id,
            std::string("\xff\0", 2));
}

TEST(Query, IgnoresMembersThatItDoesNotKnow) {
  EXPECT_EQ(query_of<DocumentQuery>(R"({"protocol":1,"query":"document","id":"a","colour":"red"})").id, "a");
}

TEST(Query, IsRefusedWithTheMemberThatIsWrong) {
  EXPECT_THAT(refusal("{"), HasSubstr("malformed_request a request is one JSON object"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("malformed_request a request is one JSON object"));
  EXPECT_THAT(refusal(""), HasSubstr("malformed_request"));
  EXPECT_THAT(refusal(R"({"query":"stats"})"), HasSubstr("protocol must be there"));
  EXPECT_THAT(refusal(R"({"protocol":"1","query":"stats"})"), HasSubstr("protocol must be a number"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"document"})"), HasSubstr("id must be there"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"document","id":""})"), HasSubstr("id must be there"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"document","id":"a","id_base64":"YQ=="})"),
              HasSubstr("id is said twice: as id or as id_base64"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","id_prefix":"a","id_prefix_base64":"YQ=="})"),
              HasSubstr("id_prefix is said twice"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"document","id":7})"), HasSubstr("id must be a text"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"document","id_base64":"!"})"), HasSubstr("id_base64 must be base64"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","partition":-1})"), HasSubstr("partition must be a number"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","partition":1.5})"), HasSubstr("partition must be a number"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","state":"old"})"), HasSubstr("state must be any, live"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","state":"stuck","error":"a"})"),
              HasSubstr("error is for state retrying or failed"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","error":"a"})"), HasSubstr("error is for state"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","error_is":""})"), HasSubstr("error_is is for state"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","state":"failed","error":7})"),
              HasSubstr("error must be a text"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","state":"failed","error":")" + std::string(1025, 'x') + "\"}"),
              HasSubstr("error must have at most 1024 bytes"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","documents_max":1001})"), HasSubstr("documents_max"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","cursor":"AAAA"})"), HasSubstr("cursor belongs to a partition"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"list","timeout_ms":18446744073709551615})"), HasSubstr("timeout_ms"));
  EXPECT_THAT(refusal("{\"protocol\":1,\"query\":\"document\",\"id\":\"" + std::string(5000, 'x') + "\"}"),
              HasSubstr("id must be there and have 1 to 4096 bytes"));
  EXPECT_THAT(refusal(std::string(kRequestBytesMax + 1, ' ')), HasSubstr("at most 65536 bytes"));
}

TEST(Query, OfANewerClientIsRefusedAsSuch) {
  EXPECT_THAT(refusal(R"({"protocol":2,"query":"stats"})"), HasSubstr("unsupported_protocol"));
  EXPECT_THAT(refusal(R"({"protocol":1,"query":"weather"})"), HasSubstr("unknown_query"));
}

TEST(Query, OfManyNestedArraysIsRefusedAndNoTrouble) {
  EXPECT_THAT(refusal(std::string(60'000, '[')), HasSubstr("malformed_request"));
}

RC_GTEST_PROP(Query, ComesBackAsItWasWritten, (const std::string& prefix, const std::string& cursor)) {
  ListQuery list;
  list.partition = Partition(*rc::gen::inRange(0, 1000));
  list.id_prefix = prefix.substr(0, 4096);
  list.state = static_cast<State>(*rc::gen::inRange(0, static_cast<int>(State::kGap) + 1));
  list.older_than = Milliseconds(*rc::gen::inRange<std::int64_t>(0, INT64_MAX));
  list.documents_max = *rc::gen::inRange<std::size_t>(1, kPageDocumentsMax + 1);
  list.cursor = cursor;
  const auto parsed = parse_request(write_request({list, Milliseconds(7)}));
  const auto& request = std::get<Request>(parsed);
  const auto& read = std::get<ListQuery>(request.query);
  RC_ASSERT(request.timeout == Milliseconds(7));
  RC_ASSERT(read.partition == list.partition);
  RC_ASSERT(read.id_prefix == list.id_prefix);
  RC_ASSERT(read.state == list.state);
  RC_ASSERT(read.older_than == list.older_than);
  RC_ASSERT(read.documents_max == list.documents_max);
  RC_ASSERT(read.cursor == list.cursor);
}

RC_GTEST_PROP(Query, OfAnyBytesIsReadOrRefused, (const std::string& bytes)) {
  const auto parsed = parse_request(bytes);
  RC_ASSERT(std::holds_alternative<Refused>(parsed) || std::holds_alternative<Request>(parsed));
}

}  // namespace
}  // namespace reseq::admin
