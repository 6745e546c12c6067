#include "consumers/opensearch/payload.h"

#include <nlohmann/json.hpp>
#include <simdjson.h>

#include "base/assert.h"

namespace reseq::opensearch {
namespace {

constexpr std::string_view kNoJson = "the payload is no JSON";
constexpr std::string_view kNoObject = "the payload is JSON, but not an object";
constexpr std::string_view kOurField =
    "the payload has a field of its own whose name begins with reseq_: those say what the sink knows about a document";
constexpr std::string_view kOurs = "reseq_";

// Newer versions of simdjson have an error of its own for an integer of more than 64 bits.
template <typename Code>
bool is_about_number(Code code) {
  if constexpr (requires { Code::BIGINT_ERROR; })
    if (code == Code::BIGINT_ERROR) return true;
  return code == Code::NUMBER_ERROR;
}

// For numbers that simdjson does not hold: they are JSON, and what they mean is the server's business. Looks at the
// names of the outermost object.
class NamesOfTheObject : public nlohmann::json_sax<nlohmann::json> {
 public:
  [[nodiscard]] std::optional<std::string_view> refusal(std::string_view text) {
    if (!nlohmann::json::sax_parse(text, this)) return why_.empty() ? kNoJson : why_;
    return std::nullopt;
  }

  bool null() override { return inside(); }
  bool boolean(bool) override { return inside(); }
  bool number_integer(number_integer_t) override { return inside(); }
  bool number_unsigned(number_unsigned_t) override { return inside(); }
  bool number_float(number_float_t, const string_t&) override { return inside(); }
  bool string(string_t&) override { return inside(); }
  bool binary(binary_t&) override { return inside(); }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return inside() && ++depth_ > 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool key(string_t& name) override {
    if (depth_ == 1 && name.starts_with(kOurs)) why_ = kOurField;
    return why_.empty();
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool inside() {
    if (depth_ == 0) why_ = kNoObject;
    return depth_ > 0;
  }
  int depth_ = 0;
  std::string_view why_;
};

}  // namespace

struct PayloadReader::Parser {
  simdjson::dom::parser dom;
};

PayloadReader::PayloadReader() : parser_(std::make_unique<Parser>()) {}

PayloadReader::~PayloadReader() = default;

std::optional<std::string_view> PayloadReader::refusal(std::string_view payload) {
  const auto parsed = parser_->dom.parse(payload.data(), payload.size());
  if (is_about_number(parsed.error())) return NamesOfTheObject().refusal(payload);
  if (parsed.error() != simdjson::SUCCESS) return kNoJson;
  simdjson::dom::object object;
  if (parsed.get_object().get(object) != simdjson::SUCCESS) return kNoObject;
  for (const simdjson::dom::key_value_pair field : object)
    if (field.key.starts_with(kOurs)) return kOurField;
  return std::nullopt;
}

void append_on_one_line(std::string_view payload, std::string& out) {
  // Between tokens only: inside of a string a line break is spelled out, or it would be no JSON.
  if (payload.find_first_of("\r\n") == std::string_view::npos) {
    out += payload;
    return;
  }
  const std::size_t before = out.size();
  out.resize(before + payload.size() + simdjson::SIMDJSON_PADDING);
  std::size_t size = 0;
  const auto failed = simdjson::minify(payload.data(), payload.size(), out.data() + before, size);
  RESEQ_ASSERT(failed == simdjson::SUCCESS && size <= payload.size(), "JSON that was read and cannot be minified");
  out.resize(before + size);
}

}  // namespace reseq::opensearch
