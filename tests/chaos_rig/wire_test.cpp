// Kafka's protocol as far as the proxy reads it.
#include "tests/chaos/proxy/wire.h"

#include <gtest/gtest.h>

namespace reseq::chaos {
namespace {

std::string request(Api api, std::int16_t version, const std::string& body) {
  return WireWriter().i16(static_cast<std::int16_t>(api)).i16(version).i32(7).text("app.r1").raw(body).frame();
}

TEST(Wire, ARequestTellsItsKindItsClientAndItsProducer) {
  const std::string frame = request(Api::kEndTxn, 1, WireWriter().text("app.r1.0").raw("rest").bytes());
  const auto facts = read_request(frame);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->api, Api::kEndTxn);
  EXPECT_EQ(facts->version, 1);
  EXPECT_EQ(facts->correlation, 7);
  EXPECT_EQ(facts->client_id, "app.r1");
  EXPECT_EQ(facts->transactional_id, "app.r1.0");
}

TEST(Wire, FlexibleVersionsHaveTagsInFrontAndCompactText) {
  const std::string one_tag("\x01\x05\x02zz", 5);  // one tag: number 5, two bytes
  const std::string id(
      "\x09"
      "app.r1.0",
      9);  // length + 1
  EXPECT_EQ(read_request(request(Api::kTxnOffsetCommit, 3, one_tag + id))->transactional_id, "app.r1.0");
  EXPECT_EQ(read_request(request(Api::kInitProducerId, 4, std::string(1, '\0') + id))->transactional_id, "app.r1.0");
  EXPECT_EQ(read_request(request(Api::kProduce, 9, std::string(1, '\0') + id))->transactional_id, "app.r1.0");
}

TEST(Wire, NullAndOtherKindsNameNoProducer) {
  const std::string null = WireWriter().i16(-1).bytes();
  EXPECT_EQ(read_request(request(Api::kProduce, 7, null))->transactional_id, "");
  EXPECT_EQ(read_request(request(Api::kProduce, 2, ""))->transactional_id, "");
  EXPECT_EQ(read_request(request(Api::kFetch, 11, WireWriter().text("no id").bytes()))->transactional_id, "");
}

TEST(Wire, WhatIsTooShortIsNoRequest) {
  const std::string whole = request(Api::kEndTxn, 1, WireWriter().text("id").bytes());
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(read_request(whole.substr(0, size))) << size;
  EXPECT_TRUE(read_request(whole));
}

TEST(Wire, FramesAreCutOutOfAnyPieces) {
  const std::string stream = WireWriter().raw("first").frame() + WireWriter().raw("second one").frame();
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    FrameCutter cutter;
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < stream.size(); at += piece)
      ASSERT_TRUE(cutter.append(std::string_view(stream).substr(at, piece), frames));
    ASSERT_EQ(frames.size(), 2U) << piece;
    EXPECT_EQ(frames[0] + frames[1], stream);
    EXPECT_EQ(cutter.pending(), 0U);
  }
}

TEST(Wire, AStreamThatIsNotKafkasIsRefused) {
  FrameCutter cutter;
  std::vector<std::string> frames;
  EXPECT_FALSE(cutter.append("GET / HTTP/1.1\r\n", frames));
}

TEST(Wire, TheErrorOfAnAnswerToEndTxnIsRead) {
  const std::string answer = WireWriter().i32(7).i32(0).i16(47).frame();  // correlation, throttle time, error
  EXPECT_EQ(end_txn_error({.api = Api::kEndTxn, .version = 1, .client_id = {}, .transactional_id = {}}, answer), 47);
  EXPECT_EQ(end_txn_error({.api = Api::kProduce, .version = 7, .client_id = {}, .transactional_id = {}}, answer), -1);
}

}  // namespace
}  // namespace reseq::chaos
