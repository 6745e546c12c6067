#include "codec/place_row.h"

#include <gtest/gtest.h>
#include <map>
#include <rapidcheck/gtest.h>

#include "codec/keys.h"
#include "codec/row_kinds.h"
#include "row_generators.h"

namespace reseq::codec {
namespace {

// What gets into the journal later.
JournalEntry queued_at(const PlaceRow& place) {
  JournalEntry entry;
  entry.order = place.order;
  entry.targets = TargetSet::of(place.target);
  entry.number = 1;
  entry.request.offset = place.request;
  entry.request.timestamp = UnixMs(5);
  return entry;
}

PlaceRow any_place(std::string_view id) {
  PlaceRow place;
  place.ended = one_in(3);
  place.total = any<bool>();
  place.target = TargetNumber(static_cast<std::uint8_t>(below(kMaxTargets)));
  place.order = any_order();
  place.id = id;
  place.number = 1 + any<std::uint64_t>() % UINT64_MAX;
  place.request = any_offset();
  place.bytes = 1 + any<std::uint64_t>() % UINT64_MAX;
  place.dispatched_at = any_time();
  if (one_in(2)) place.due = place.ended || one_in(3) ? UnixMs() : UnixMs(1 + (any<std::int64_t>() & INT64_MAX) / 2);
  if (place.ended && one_in(2)) {
    place.reason = "failed";
    place.attempts = any<std::uint32_t>();
  }
  if (!place.ended && one_in(2)) {
    place.document = 1 + any<std::uint64_t>() % UINT64_MAX;
    place.queued = queued_at(place);
    place.queued->urgency.priority = static_cast<std::uint8_t>(below(256));
    place.queued->urgency.inserted = place.queued->urgency.process_at = UnixMs(static_cast<std::int64_t>(below(1000)));
  }
  return place;
}

std::string key_of(const PlaceRow& place, std::uint64_t document) {
  return place_key(3, place_rank(place.target, document, place.order));
}

RC_GTEST_PROP(PlaceRow, SurvivesEncodingAndHasOneEncoding, ()) {
  const std::string id = any_id();
  PlaceRow place = any_place(id);
  const std::string extensions = any_extensions();
  place.extensions = extensions;
  const std::string key = key_of(place, any<std::uint64_t>());
  RC_ASSERT(key.size() <= kMaxKeyBytes - 4);
  RC_ASSERT(parse_key(key).has_value());
  RC_ASSERT(row_kind_of(key)->type == KeyType::kPlace);
  std::string value = "before";
  encode_place(key, place, value);
  value.erase(0, 6);
  const auto decoded = decode_place(key, value);
  RC_ASSERT(std::holds_alternative<PlaceRow>(decoded));
  RC_ASSERT(std::get<PlaceRow>(decoded) == place);
  std::string again;
  encode_place(key, std::get<PlaceRow>(decoded), again);
  RC_ASSERT(again == value);
}

RC_GTEST_PROP(PlaceRow, StandsBesideOthersOfItsDocumentInTheirOrder, ()) {
  const std::uint64_t document = any<std::uint64_t>();
  const TargetNumber target(static_cast<std::uint8_t>(below(kMaxTargets)));
  const Order a = any_order();
  const Order b = any_order();
  RC_ASSERT((place_rank(target, document, a) <=> place_rank(target, document, b)) == (a <=> b));
  RC_ASSERT(place_rank(target, document, a).starts_with(lane_rank(target, document)));
}

PlaceRow book_at_nine() {
  PlaceRow place;
  place.target = TargetNumber(2);
  place.order.sequence = Sequence::of_number(7);
  place.id = "book";
  place.number = 9;
  place.bytes = 1;
  return place;
}

TEST(PlaceRow, SaysWhenItIsToBeLookedAtOnlyAsAHead) {
  PlaceRow place = book_at_nine();
  const auto entries = [&] {
    const std::string key = key_of(place, 1);
    std::string value;
    encode_place(key, place, value);
    std::map<int, std::string> found;
    each_place_entry(value, [&](std::uint8_t index, std::string_view bytes) { found[index] = bytes; });
    return found;
  };
  const std::string nine("\0\0\0\0\0\0\0\x09", 8);
  EXPECT_EQ(entries(), (std::map<int, std::string>{}));
  place.due = UnixMs(258);
  EXPECT_EQ(entries(), (std::map<int, std::string>{{kGapIndex, std::string("\0\0\0\0\0\0\x01\x02", 8)}}));
  place.ended = true;
  place.due = UnixMs();
  EXPECT_EQ(entries(), (std::map<int, std::string>{{kReadyIndex, nine}}));
  place.total = true;
  EXPECT_EQ(entries(), (std::map<int, std::string>{{kLaneIndex, "\x02" + nine}, {kReadyIndex, nine}}));
  EXPECT_EQ(number_in_lane("\x02" + nine, TargetNumber(2)), 9U);
  EXPECT_EQ(number_in_lane("\x02" + nine, TargetNumber(3)), std::nullopt);
}

TEST(PlaceRow, ThatWaitsToGetIntoTheJournalIsFoundByItsDocumentAndItsAge) {
  PlaceRow place = book_at_nine();
  place.document = 3;
  place.queued = queued_at(place);
  const std::string key = key_of(place, 3);
  std::string value;
  encode_place(key, place, value);
  std::map<int, std::string> found;
  each_place_entry(value, [&](std::uint8_t index, std::string_view bytes) { found[index] = bytes; });
  EXPECT_EQ(found, (std::map<int, std::string>{{kQueuedIndex, queued_entry(3, place.target, 9)},
                                               {kSentIndex, std::string("\0\0\0\0\0\0\0\x05", 8)}}));
  Counts counts;
  counts.add(count_place(value));
  EXPECT_EQ(counts[Count::kPlaces], 1U);
  EXPECT_EQ(counts[Count::kQueued], 1U);
  EXPECT_EQ(counts.rows(), 1U);
  place.queued.reset();
  place.document = 0;
  value.clear();
  encode_place(key, place, value);
  counts = Counts();
  counts.add(count_place(value));
  EXPECT_EQ(counts[Count::kQueued], 0U);
}

TEST(PlaceRow, UnderTheKeyOfAnotherOrderIsRefused) {
  PlaceRow place;
  place.order.sequence = Sequence::of_number(7);
  place.id = "book";
  place.number = 1;
  place.bytes = 1;
  const std::string key = key_of(place, 1);
  std::string value;
  encode_place(key, place, value);
  ASSERT_TRUE(std::holds_alternative<PlaceRow>(decode_place(key, value)));
  place.order.sequence = Sequence::of_number(8);
  std::string forged;
  encode_place(key, place, forged);
  EXPECT_EQ(std::get<RowError>(decode_place(key, forged)), RowError::kInvalid);
}

TEST(PlaceRow, WithAnExtensionThatMustBeUnderstoodIsRefused) {
  PlaceRow place;
  place.id = "book";
  place.number = 1;
  place.bytes = 1;
  place.extensions = std::string_view("\x03\x00", 2);
  const std::string key = key_of(place, 1);
  std::string value;
  encode_place(key, place, value);
  EXPECT_EQ(std::get<RowError>(decode_place(key, value)), RowError::kUnknownMandatory);
}

}  // namespace
}  // namespace reseq::codec
