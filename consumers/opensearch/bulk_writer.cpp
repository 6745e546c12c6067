#include "consumers/opensearch/bulk_writer.h"

#include "base/assert.h"

namespace reseq::opensearch {
namespace {

constexpr long kTooLarge = 413;

std::string told(const HttpClient& client, long status, const std::string& words) {
  std::string text = client.url() + " answers " + std::to_string(status);
  if (!words.empty()) text += ": " + words;
  return text;
}

std::string words_of_refusal(long status, const std::string& words) {
  if (status == kTooLarge) return "the server takes no request of this size (http.max_content_length)";
  return words.empty() ? "the server answers " + std::to_string(status) : words;
}

}  // namespace

Result<> BulkWriter::send(const BulkBody& body, std::span<ItemAnswer> answers) {
  RESEQ_ASSERT(body.items() == answers.size(), "one answer per item");
  std::vector<Range> open = requests_of(body);
  went_well_ = false;
  while (!open.empty()) {
    const Range range = open.back();
    open.pop_back();
    if (Result<> sent = send_range(body, answers, range, open); !sent) return sent;
  }
  return Done{};
}

// In reverse, because the last one is sent first.
std::vector<BulkWriter::Range> BulkWriter::requests_of(const BulkBody& body) const {
  std::vector<Range> ranges;
  std::size_t begin = 0;
  for (std::size_t end = 1; end <= body.items(); ++end) {
    const bool is_last = end == body.items();
    if (!is_last && body.part(begin, end + 1).size() <= limits_.request_bytes) continue;
    ranges.insert(ranges.begin(), Range{begin, end});
    begin = end;
  }
  return ranges;
}

Result<> BulkWriter::send_range(const BulkBody& body, std::span<ItemAnswer> answers, Range range,
                                std::vector<Range>& open) {
  Result<HttpAnswer> answer = client_.send(Method::kPost, path_, body.part(range.begin, range.end));
  if (!answer) return answer.error();
  const auto items = answers.subspan(range.begin, range.end - range.begin);
  switch (verdict_of_status(answer.value().status)) {
    case Verdict::kStored:
      return take_items(answer.value().body, items);
    case Verdict::kSmaller: {
      if (items.size() == 1) return refuse(items.front(), answer.value());
      const std::size_t middle = range.begin + items.size() / 2;
      open.push_back({middle, range.end});
      open.push_back({range.begin, middle});
      return Done{};
    }
    default:
      return error_of(answer.value());
  }
}

Error BulkWriter::error_of(const HttpAnswer& answer) {
  const bool for_a_while = verdict_of_status(answer.status) == Verdict::kAgain;
  return {.what_to_do = for_a_while ? ErrorClass::kRetriable : ErrorClass::kInvalid,
          .code = static_cast<int>(answer.status),
          .message = told(client_, answer.status, reader_.read_error(answer.body))};
}

Result<> BulkWriter::refuse(ItemAnswer& item, const HttpAnswer& answer) {
  std::string words = words_of_refusal(answer.status, reader_.read_error(answer.body));
  if (!went_well_)
    if (Result<> tried = try_another(); !tried) return tried;
  item = {Verdict::kRefused, std::move(words)};
  return Done{};
}

Result<> BulkWriter::try_another() {
  const std::string request = R"({"index":)" + std::string(kPlaceOfNone) + "}\n{}\n";
  Result<HttpAnswer> answer = client_.send(Method::kPost, path_, request);
  if (!answer) return answer.error();
  if (verdict_of_status(answer.value().status) != Verdict::kStored) return error_of(answer.value());
  ItemAnswer item;
  if (Result<> taken = take_items(answer.value().body, std::span(&item, 1)); !taken) return taken;
  if (item.verdict != Verdict::kAgain) return Done{};
  return Error{
      .what_to_do = ErrorClass::kRetriable, .code = item.status, .message = client_.url() + " answers " + item.words};
}

// An item that tells of a state in which nothing can be written goes again, and its words are the error.
Result<> BulkWriter::take_items(std::string_view answer, std::span<ItemAnswer> answers) {
  if (Result<> read = reader_.read_items(answer, answers); !read) return read;
  went_well_ = true;
  Result<> taken = Done{};
  for (ItemAnswer& item : answers) {
    RESEQ_ASSERT(item.verdict != Verdict::kSmaller, "an item is as small as it gets");
    if (item.verdict != Verdict::kUnusable) continue;
    if (taken)
      taken = Error{
          .what_to_do = ErrorClass::kInvalid, .code = item.status, .message = client_.url() + " answers " + item.words};
    item.verdict = Verdict::kAgain;
  }
  return taken;
}

}  // namespace reseq::opensearch
