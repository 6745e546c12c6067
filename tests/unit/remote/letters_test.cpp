// Dead letters of a sink: what their headers say, what is left out when they are too large.
#include <gtest/gtest.h>
#include <thread>

#include "codec/header_names.h"
#include "codec/record_size.h"
#include "consumers/remote/dead_letters.h"
#include "tests/unit/remote/records.h"

namespace reseq::remote {
namespace {

std::string value_of(const LetterRecord& record, std::string_view name) {
  const Header* header = codec::find_header(record.headers, name);
  return header != nullptr && header->value ? std::string(*header->value) : "(none)";
}

TEST(SinkDeadLetter, SaysWhyAndWhereItCameFrom) {
  kafka::PlainRecord record = record_of({17, "a", "5", "{"});
  record.headers.push_back({"traceparent", "00-1-2-01"});
  record.headers.push_back({"reseq-reason", "forged"});
  const Letter refused{&record, false, "invalid input syntax for type json (22P02)"};
  const auto letter = letter_record(refused, 1'000'000);
  EXPECT_EQ(letter->key, "a");
  EXPECT_EQ(letter->payload, "{");
  EXPECT_EQ(value_of(*letter, "reseq-reason"), "refused_by_server");
  EXPECT_EQ(value_of(*letter, "reseq-sink-words"), "invalid input syntax for type json (22P02)");
  EXPECT_EQ(value_of(*letter, "reseq-source-topic"), "shop.output.search");
  EXPECT_EQ(value_of(*letter, "reseq-source-partition"), "3");
  EXPECT_EQ(value_of(*letter, "reseq-source-offset"), "17");
  EXPECT_EQ(value_of(*letter, "reseq-first-written"), "1700000000000");
  EXPECT_EQ(value_of(*letter, "reseq-version"), "5");
  EXPECT_EQ(value_of(*letter, "traceparent"), "00-1-2-01");
  for (const Header& header : letter->headers) EXPECT_NE(header.value, "forged");
}

TEST(SinkDeadLetter, LeavesOutWhatDoesNotFitAndSaysSo) {
  kafka::PlainRecord record = record_of({17, "a", "5", std::string(5'000, 'x')});
  const Letter refused{&record, true, std::string(9'000, 'w')};
  const auto letter = letter_record(refused, 4'000);
  EXPECT_FALSE(letter->payload);
  EXPECT_EQ(value_of(*letter, "reseq-payload-omitted"), "5000");
  EXPECT_EQ(value_of(*letter, "reseq-sink-words").size(), kWordsMax);
  EXPECT_EQ(value_of(*letter, "reseq-reason"), "malformed");
  EXPECT_LE(codec::record_bytes_max(1, 0, letter->headers), 4'000U);
}

TEST(SinkDeadLetter, LeavesOutHeadersAndTheKeyAtLast) {
  const std::string long_value(3'000, 'h');
  kafka::PlainRecord record = record_of({17, std::string(4'000, 'k'), "5", "x"});
  record.headers.push_back({"mine", long_value});
  const Letter refused{&record, true, "words"};
  const auto letter = letter_record(refused, 2'000);
  EXPECT_EQ(value_of(*letter, "reseq-headers-omitted"), "2");
  EXPECT_EQ(value_of(*letter, "reseq-key-omitted"), "4000");
  EXPECT_EQ(value_of(*letter, "mine"), "(none)");
  EXPECT_EQ(value_of(*letter, "reseq-source-offset"), "17");
}

// How long the letters hold up a program that ends soon after it has begun to write them, with no broker there.
Clock::duration time_to_end(DeadLetters& letters, std::size_t count) {
  kafka::PlainRecord record = record_of({17, "a", "5", "x"});
  const std::vector<Letter> refused(count, Letter{&record, true, "words"});
  std::thread ends([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    letters.interrupt();
  });
  const auto begun = Clock::now();
  EXPECT_FALSE(letters.write(refused));
  EXPECT_FALSE(letters.write(refused));
  const auto took = Clock::now() - begun;
  ends.join();
  return took;
}

TEST(SinkDeadLetter, DoesNotHoldUpTheEndOfTheProgramWhileBrokersAreAway) {
  DeadLetters letters({.bootstrap_servers = "127.0.0.1:1"}, "shop.output.search.dead-letter", 1'000'000);
  EXPECT_LT(time_to_end(letters, 1), std::chrono::seconds(15)) << "the limit is 30 s";
}

TEST(SinkDeadLetter, DoesNotHoldUpTheEndOfTheProgramWhenTheQueueIsFull) {
  DeadLetters letters({.bootstrap_servers = "127.0.0.1:1"}, "shop.output.search.dead-letter", 1'000'000, 5);
  EXPECT_LT(time_to_end(letters, 20), std::chrono::seconds(15)) << "a producer waits a minute for room";
}

}  // namespace
}  // namespace reseq::remote
