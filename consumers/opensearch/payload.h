// Payload: is a payload a document that OpenSearch may get? It has to be one JSON object. What is none is refused here,
// with a reason: a body of _bulk is lines, and a payload that is not JSON could be read as several of them.
// Thread rule: one thread per PayloadReader; it keeps its memory.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace reseq::opensearch {

class PayloadReader {
 public:
  PayloadReader();
  ~PayloadReader();
  PayloadReader(const PayloadReader&) = delete;
  PayloadReader& operator=(const PayloadReader&) = delete;

  // Why it is no document; static text. Empty: it is one.
  [[nodiscard]] std::optional<std::string_view> refusal(std::string_view payload);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// Appends the object without blanks or line breaks between its tokens. REQUIRES: PayloadReader took it.
void append_on_one_line(std::string_view payload, std::string& out);

}  // namespace reseq::opensearch
