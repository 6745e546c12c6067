#include "consumers/opensearch/bulk_writer.h"

#include "base/assert.h"

namespace reseq::opensearch {
namespace {

constexpr long kTooLarge = 413;
// So many single items that are refused without any that is answered are no coincidence.
constexpr std::size_t kRefusedMax = 8;

std::string told(const HttpClient& client, long status, const std::string& words) {
  std::string text = client.url() + " answers " + std::to_string(status);
  if (!words.empty()) text += ": " + words;
  return text;
}

}  // namespace

Result<> BulkWriter::send(const BulkBody& body, std::span<ItemAnswer> answers) {
  RESEQ_ASSERT(body.items() == answers.size(), "one answer per item");
  std::vector<Range> open = requests_of(body);
  refused_whole_.clear();
  went_well_ = false;
  while (!open.empty() && (went_well_ || refused_whole_.size() < kRefusedMax)) {
    const Range range = open.back();
    open.pop_back();
    Result<> sent = send_range(body, answers, range, open);
    if (sent) continue;
    (void)judge_whole(answers);
    return sent;
  }
  return judge_whole(answers);
}

Result<> BulkWriter::judge_whole(std::span<ItemAnswer> answers) {
  if (went_well_ || refused_whole_.empty()) return Done{};
  for (const std::size_t place : refused_whole_) answers[place] = {Verdict::kAgain, words_};
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 400, .message = told(client_, 400, words_)};
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
  const long status = answer.value().status;
  const auto items = answers.subspan(range.begin, range.end - range.begin);
  switch (verdict_of_status(status)) {
    case Verdict::kStored:
      return take_items(answer.value().body, items);
    case Verdict::kSmaller: {
      const std::string words = reader_.read_error(answer.value().body);
      if (items.size() > 1) {
        const std::size_t middle = range.begin + items.size() / 2;
        open.push_back({middle, range.end});
        open.push_back({range.begin, middle});
      } else if (status == kTooLarge) {
        items.front() = {Verdict::kRefused, "the server takes no request of this size (http.max_content_length)"};
      } else {
        words_ = words;
        items.front() = {Verdict::kRefused, words.empty() ? "the server answers 400" : words};
        refused_whole_.push_back(range.begin);
      }
      return Done{};
    }
    case Verdict::kAgain:
      return Error{.what_to_do = ErrorClass::kRetriable,
                   .code = static_cast<int>(status),
                   .message = told(client_, status, reader_.read_error(answer.value().body))};
    default:
      return Error{.what_to_do = ErrorClass::kInvalid,
                   .code = static_cast<int>(status),
                   .message = told(client_, status, reader_.read_error(answer.value().body))};
  }
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
