// What a meta row says behind its body: each alone, together, and as nobody would write it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/row_frame.h"
#include "row_generators.h"

namespace reseq::codec {
namespace {

using namespace std::string_literals;

std::string meta_value(const Meta& meta) {
  std::string value;
  encode_meta(meta_key(), meta, value);
  return value;
}

void expect_meta_survives(const Meta& meta) {
  const auto decoded = decode_meta(meta_key(), meta_value(meta));
  ASSERT_TRUE(std::holds_alternative<Meta>(decoded)) << name_of(std::get<RowError>(decoded));
  EXPECT_EQ(std::get<Meta>(decoded), meta);
}

// With these bytes as extensions, sealed; what is read of them, or why it is refused.
Decoded<Meta> meta_with(const std::string& extensions) {
  Meta meta;
  meta.extensions = extensions;
  return decode_meta(meta_key(), meta_value(meta));
}

std::optional<RowError> error_with(const std::string& extensions) {
  const auto decoded = meta_with(extensions);
  const auto* error = std::get_if<RowError>(&decoded);
  return error == nullptr ? std::nullopt : std::optional(*error);
}

const std::optional<RowError> kReadable;
const std::string kPinBytes = "\x02\x0b\x00\x02\x03\x08\x07\x06\x05\x04\x03\x02\x01"s;
const std::string kWaitingBytes = "\x03\x11\x05\x02\x02\x07\x05\x09\x01\x05\x02\x04\x05\x01\x00\x02\x04\x0a\x08"s;
const std::string kNumberBytes = "\x04\x05\x80\x02\x07\x04\x03"s;
const std::string kPriorityBytes = "\x06\x06\x64\x02\x00\xc8\x00\x03"s;

std::vector<Breaker> some_breakers() {
  Breaker counting;
  counting.target = TargetNumber(1);
  counting.counted = {7, UINT64_MAX};
  counting.error = "x";
  Breaker open;
  open.target = TargetNumber(63);
  open.open = open.until_resume = true;
  open.opened_at = UnixMs(2);
  open.changed_behind = 300;
  open.probe = 301;
  open.probe_at = UnixMs(1'709'164'800'000);
  open.pause = Milliseconds(60'000);
  return {counting, open};
}

TEST(MetaExtensions, OfBreakersThatCannotBeAreRefused) {
  const std::string closed = "\x01\x00\x00\x01\x07\x00\x00\x00\x00\x00\x00\x00\x00"s;
  EXPECT_TRUE(std::holds_alternative<Meta>(meta_with("\x08\x0d"s + closed)));
  EXPECT_TRUE(std::holds_alternative<Meta>(meta_with("\x08\x05"s + "\x01\x00\x09\x00\x00"s))) << "it was down";
  EXPECT_FALSE(std::holds_alternative<Meta>(meta_with("\x08\x05"s + "\x01\x00\x00\x00\x00"s))) << "it knows nothing";
  const std::string no_target = "\x40\x00\x00\x01\x07\x00\x00\x00\x00\x00\x00\x00\x00"s;
  EXPECT_FALSE(std::holds_alternative<Meta>(meta_with("\x08\x0d"s + no_target)));
  const std::string waits_but_closed = "\x01\x02\x00\x01\x07\x00\x00\x00\x00\x00\x00\x00\x00"s;
  EXPECT_FALSE(std::holds_alternative<Meta>(meta_with("\x08\x0d"s + waits_but_closed)));
  EXPECT_FALSE(std::holds_alternative<Meta>(meta_with("\x08\x1a"s + closed + closed))) << "a target twice";
  const std::string other_flag = "\x01\x04\x00\x01\x07\x00\x00\x00\x00\x00\x00\x00\x00"s;
  EXPECT_FALSE(std::holds_alternative<Meta>(meta_with("\x08\x0d"s + other_flag)));
  const std::string open = "\x01\x01\x00\x05\x00\x07"s;
  EXPECT_TRUE(std::holds_alternative<Meta>(meta_with("\x08\x08"s + open + "\x0c\x00"s)));
  EXPECT_FALSE(std::holds_alternative<Meta>(meta_with("\x08\x08"s + open + "\x00\x00"s)))
      << "it is tried without a pause";
}

TEST(MetaExtensions, EachAloneAndAllTogetherSurvive) {
  for (unsigned parts = 0; parts < 8192; ++parts) {
    SCOPED_TRACE(parts);
    Meta meta;
    const auto has = [parts](unsigned part) { return (parts >> part & 1U) != 0; };
    meta.state.paused = has(0);
    if (has(1)) meta.pins = {{Role::kRequests, Offset(9), UnixMs(5), 77}};
    if (has(2)) meta.capabilities = std::uint64_t{1} << 63U | 1U;
    if (has(3)) {
      meta.summary.counts[Count::kHeldRecords] = 3;
      meta.summary.counts[Count::kHeldBytes] = UINT64_MAX;
      meta.summary.counts[Count::kTasks] = 1;
    }
    if (has(4)) meta.agenda = {{0, UnixMs(-5), 1}, {7, UnixMs(1'709'164'800'000), UINT32_MAX}, {255, UnixMs(), 2}};
    if (has(4) && has(6)) meta.gone = {Offset(0), Offset(INT64_MAX - 1)};
    if (has(4) && has(10)) meta.unreadable = {Offset(0), Offset(7)};
    if (has(5)) meta.extensions = "\x0c\x01?\x80\x08\x00"s;
    if (has(7)) meta.state.journal_number = UINT64_MAX;
    if (has(8)) meta.state.journal_answered = 1;
    if (has(11)) meta.state.release_times.note(Milliseconds(INT64_MAX));
    if (has(12)) meta.state.breakers = some_breakers();
    if (has(1)) meta.state.lane_number = UINT64_MAX;
    if (has(9)) meta.summary.priorities = {{0, 0, UINT64_MAX}, {100, 1, 0}, {255, 1, 300}};
    expect_meta_survives(meta);
  }
}

// An older version refuses or keeps what it does not know, so what it knows has to be as it was.
TEST(MetaExtensions, StandBehindWhatARowWithoutThemHas) {
  Meta meta;
  meta.state.paused = true;
  meta.pins = {{Role::kRequests, Offset(1), UnixMs(2), 0x0102030405060708}};
  const std::string bare = meta_value(meta);
  meta.capabilities = 5;
  meta.summary.counts[Count::kHeldRecords] = 7;
  meta.summary.counts[Count::kTasks] = 9;
  meta.agenda = {{1, UnixMs(5), 2}, {4, UnixMs(5), 1}};
  meta.gone = {Offset(3), Offset(9)};
  meta.unreadable = {Offset(7)};
  meta.state.journal_number = 256;
  meta.state.journal_answered = 7;
  for (int i = 0; i < 3; ++i) meta.state.release_times.note(Milliseconds(15));
  meta.summary.priorities = {{100, 2, 0}, {200, 0, 3}};
  const std::string value = meta_value(meta);
  const std::size_t content = bare.size() - kChecksumBytes;
  EXPECT_EQ(value.substr(0, content), bare.substr(0, content));
  EXPECT_EQ(value.substr(content, value.size() - kChecksumBytes - content),
            kWaitingBytes + kNumberBytes + kPriorityBytes);
}

TEST(MetaExtensions, OfAllKindsAreRead) {
  const auto decoded = meta_with("\x01\x00"s + kPinBytes + kWaitingBytes + kNumberBytes + kPriorityBytes + "\x0c\x00"s);
  ASSERT_TRUE(std::holds_alternative<Meta>(decoded));
  const Meta& meta = std::get<Meta>(decoded);
  EXPECT_TRUE(meta.state.paused);
  EXPECT_EQ(meta.pins.size(), 1U);
  EXPECT_EQ(meta.capabilities, 5U);
  EXPECT_EQ(meta.summary.counts[Count::kHeldRecords], 7U);
  EXPECT_EQ(meta.summary.counts[Count::kTasks], 9U);
  EXPECT_EQ(meta.agenda, (std::vector<AgendaDone>{{1, UnixMs(5), 2}, {4, UnixMs(5), 1}}));
  EXPECT_EQ(meta.gone, (std::vector<Offset>{Offset(3), Offset(9)}));
  EXPECT_EQ(meta.unreadable, (std::vector<Offset>{Offset(7)}));
  EXPECT_EQ(meta.state.journal_number, 256U);
  EXPECT_EQ(meta.state.journal_answered, 7U);
  EXPECT_EQ(meta.summary.priorities, (std::vector<PriorityCount>{{100, 2, 0}, {200, 0, 3}}));
  EXPECT_EQ(meta.extensions, "\x0c\x00"s);
}

TEST(MetaExtensions, ThatMustBeUnderstoodAndAreUnknownAreRefusedWhereverTheyStand) {
  const std::vector<std::string> known = {"\x01\x00"s,  kPinBytes,      kWaitingBytes,
                                          kNumberBytes, kPriorityBytes, "\x0c\x00"s};
  for (const auto& [tag, before] :
       {std::pair(5, std::size_t{4}), std::pair(7, std::size_t{5}), std::pair(9, known.size())})
    for (std::size_t first = 0; first <= before; ++first) {
      std::string extensions;
      for (std::size_t i = first; i < before; ++i) extensions += known[i];
      extensions += static_cast<char>(tag) + "\x01!"s;
      EXPECT_EQ(error_with(extensions), RowError::kUnknownMandatory) << tag << " behind " << before - first;
      for (std::size_t i = before; i < known.size(); ++i) extensions += known[i];
      EXPECT_EQ(error_with(extensions), RowError::kUnknownMandatory) << tag << " between";
    }
}

TEST(MetaExtensions, OfLaterVersionsAreKeptWhereTheyMayBeLeftOut) {
  for (const std::string& kept : {"\x0c\x00"s, "\x0e\x03"s + "abc", "\x80\x08\x01x"s}) {
    const auto decoded = meta_with(kWaitingBytes + kept);
    ASSERT_TRUE(std::holds_alternative<Meta>(decoded));
    EXPECT_EQ(std::get<Meta>(decoded).extensions, kept);
  }
}

TEST(MetaExtensions, WithoutAnythingInThemAreRefused) {
  for (const char tag : {'\2', '\3', '\4', '\6'}) EXPECT_EQ(error_with(tag + "\0"s), RowError::kInvalid) << int{tag};
  EXPECT_EQ(error_with("\x01\x01x"s), RowError::kInvalid);
}

TEST(MetaExtensions, OutOfOrderOrTwiceAreRefused) {
  const std::vector<std::string> known = {"\x01\x00"s,  kPinBytes,      kWaitingBytes,
                                          kNumberBytes, kPriorityBytes, "\x0c\x00"s};
  for (std::size_t a = 0; a < known.size(); ++a)
    for (std::size_t b = 0; b < known.size(); ++b)
      EXPECT_EQ(error_with(known[a] + known[b]) == kReadable, a < b) << a << " and " << b;
}

TEST(MetaExtensions, WithCapabilitiesThatNobodyWouldWriteAreRefused) {
  EXPECT_EQ(error_with("\x03\x02\x05\x00"s), kReadable);
  EXPECT_EQ(error_with("\x03\x02\x00\x00"s), RowError::kInvalid) << "none, and nothing else";
  EXPECT_EQ(error_with("\x03\x03\x85\x00\x00"s), RowError::kInvalid) << "longer than need be";
  EXPECT_EQ(error_with("\x03\x01\x05"s), RowError::kInvalid) << "without a number of counts";
}

TEST(MetaExtensions, WithCountsThatNobodyWouldWriteAreRefused) {
  EXPECT_EQ(error_with("\x03\x04\x00\x01\x02\x05"s), kReadable);
  EXPECT_EQ(error_with("\x03\x04\x00\x01\x02\x00"s), RowError::kInvalid) << "none of them";
  EXPECT_EQ(error_with("\x03\x04\x00\x01\x01\x05"s), RowError::kInvalid) << "that stand in the body";
  EXPECT_EQ(error_with("\x03\x04\x00\x01\x0b\x05"s), RowError::kUnknownMandatory) << "of a later version";
  EXPECT_EQ(error_with("\x03\x06\x00\x02\x02\x05\x02\x05"s), RowError::kInvalid) << "twice";
  EXPECT_EQ(error_with("\x03\x06\x00\x02\x03\x05\x02\x05"s), RowError::kInvalid) << "falling";
  EXPECT_EQ(error_with("\x03\x03\x00\x01\x02"s), RowError::kInvalid) << "no sum";
}

TEST(MetaExtensions, WithAnAgendaThatNobodyWouldWriteAreRefused) {
  EXPECT_EQ(error_with("\x03\x05\x00\x00\x01\x05\x02"s), kReadable);
  EXPECT_EQ(error_with("\x03\x05\x00\x00\x01\x05\x00"s), RowError::kInvalid) << "nothing done";
  EXPECT_EQ(error_with("\x03\x08\x00\x00\x01\x05\x02\x01\x05\x02"s), RowError::kInvalid) << "a kind twice";
  EXPECT_EQ(error_with("\x03\x08\x00\x00\x04\x05\x02\x01\x05\x02"s), RowError::kInvalid) << "falling kinds";
  EXPECT_EQ(error_with("\x03\x04\x00\x00\x01\x05"s), RowError::kInvalid) << "no rows";
  EXPECT_EQ(error_with("\x03\x09\x00\x00\x01\x05\x80\x80\x80\x80\x10"s), RowError::kInvalid) << "too many rows";
}

TEST(MetaExtensions, WithWhatIsGoneThatNobodyWouldWriteAreRefused) {
  EXPECT_EQ(error_with("\x03\x09\x00\x00\x01\x05\x02\x00\x02\x04\x0a"s), kReadable);
  EXPECT_EQ(error_with("\x03\x07\x00\x00\x01\x05\x02\x00\x00"s), RowError::kInvalid) << "nothing";
  EXPECT_EQ(error_with("\x03\x08\x00\x00\x01\x05\x02\x00\x02\x04"s), RowError::kInvalid) << "one of two";
  EXPECT_EQ(error_with("\x03\x09\x00\x00\x01\x05\x02\x00\x02\x04\x04"s), RowError::kInvalid) << "twice";
  EXPECT_EQ(error_with("\x03\x09\x00\x00\x01\x05\x02\x00\x02\x0a\x04"s), RowError::kInvalid) << "falling";
  EXPECT_EQ(error_with("\x03\x09\x00\x00\x01\x05\x02\x00\x00\x04\x0a"s), kReadable) << "what cannot be read";
  EXPECT_EQ(error_with("\x03\x09\x00\x00\x01\x05\x02\x00\x00\x0a\x04"s), RowError::kInvalid) << "falling";
}

TEST(MetaExtensions, WithNumbersOfTheJournalThatNobodyWouldWriteAreRefused) {
  EXPECT_EQ(error_with("\x04\x02\x05\x00"s), kReadable);
  EXPECT_EQ(error_with("\x04\x02\x00\x00"s), RowError::kInvalid) << "none";
  EXPECT_EQ(error_with("\x04\x01\x05"s), RowError::kInvalid) << "one of them";
  EXPECT_EQ(error_with("\x04\x03\x05\x00\x00"s), RowError::kInvalid) << "half of a release time";
  EXPECT_EQ(error_with("\x04\x04\x00\x00\x17\x01"s), kReadable);
  EXPECT_EQ(error_with("\x04\x04\x00\x00\x18\x01"s), RowError::kInvalid) << "a place too far";
  EXPECT_EQ(error_with("\x04\x04\x05\x00\x01\x00"s), RowError::kInvalid) << "none of a place";
  EXPECT_EQ(error_with("\x04\x06\x05\x00\x01\x02\x01\x02"s), RowError::kInvalid) << "a place twice";
  EXPECT_EQ(error_with("\x04\x06\x05\x00\x01\x80\x80\x04"s), RowError::kInvalid) << "too many";
  EXPECT_EQ(error_with("\x04\x03\x85\x00\x00"s), RowError::kInvalid) << "longer than need be";
}

TEST(MetaExtensions, WithPrioritiesThatNobodyWouldWriteAreRefused) {
  EXPECT_EQ(error_with("\x06\x06\x05\x01\x00\x06\x00\x01"s), kReadable);
  EXPECT_EQ(error_with("\x06\x03\x05\x00\x00"s), RowError::kInvalid) << "of nothing";
  EXPECT_EQ(error_with("\x06\x06\x05\x01\x00\x05\x00\x01"s), RowError::kInvalid) << "twice";
  EXPECT_EQ(error_with("\x06\x06\x06\x01\x00\x05\x00\x01"s), RowError::kInvalid) << "falling";
  EXPECT_EQ(error_with("\x06\x02\x05\x01"s), RowError::kInvalid) << "half of one";
}

TEST(MetaExtensionsDeathTest, OfPrioritiesThatBreakTheirInvariantsAreNotWritten) {
  Meta meta;
  meta.summary.priorities = {{5, 0, 0}};
  EXPECT_DEATH((void)meta_value(meta), "invariants");
  meta.summary.priorities = {{5, 1, 0}, {5, 0, 1}};
  EXPECT_DEATH((void)meta_value(meta), "invariants");
  meta.summary.priorities = {{6, 1, 0}, {5, 0, 1}};
  EXPECT_DEATH((void)meta_value(meta), "invariants");
}

TEST(MetaExtensionsDeathTest, OfAnAgendaThatBreaksItsInvariantsAreNotWritten) {
  Meta meta;
  meta.agenda = {{1, UnixMs(5), 0}};
  EXPECT_DEATH((void)meta_value(meta), "invariants");
  meta.agenda = {{2, UnixMs(5), 1}, {1, UnixMs(5), 1}};
  EXPECT_DEATH((void)meta_value(meta), "invariants");
  meta.agenda = {{1, UnixMs(5), 1}, {1, UnixMs(5), 1}};
  EXPECT_DEATH((void)meta_value(meta), "invariants");
}

}  // namespace
}  // namespace reseq::codec
