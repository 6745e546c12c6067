// What the server said of a _bulk request, and what follows from it.
//
//   HTTP status of the whole            items                                          verdict
//   200                                 one for each item sent                         each by the second table
//   200                                 not that                                       again
//   400, 413                                                                           smaller; one alone: refused, if
//                                                                                      another request goes well
//   401, 403, 404, 3xx, other 4xx                                                      unusable
//   408, 429, 5xx                                                                      again
//
//   status of an item                   type of its error                              verdict
//   2xx                                                                                stored
//   404                                 none (a hard delete of what is not there)      stored
//   404                                 index_not_found, alias missing                 unusable
//   400                                 what is wrong with the index or its alias      unusable
//   409                                                                                not newer
//   400, 403                            cluster_block, index_closed, circuit_breaking  again
//   401, 403                            any other                                      unusable
//   408, 429, 5xx                                                                      again
//   any other                                                                          refused
//
// Of an error with causes the first of them decides that is not about the document.
// "Unusable": no batch can be written as things are, somebody has to do something. A version conflict may come from an
// attempt of our own whose answer was lost, or from a newer version: both mean that nothing is to be done.
// Thread rule: one thread per reader.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace reseq::opensearch {

enum class Verdict : unsigned char { kStored, kNotNewer, kRefused, kAgain, kUnusable, kSmaller };

struct ItemAnswer {
  Verdict verdict = Verdict::kAgain;
  std::string words{};  // the server's, where they matter
  int status = 0;       // as HTTP has it; 0: not answered
};

[[nodiscard]] Verdict verdict_of_status(long http_status);
[[nodiscard]] Verdict verdict_of_item(std::int64_t status, std::string_view error_type, std::string_view reason = {});

class AnswerReader {
 public:
  AnswerReader();
  ~AnswerReader();
  AnswerReader(const AnswerReader&) = delete;
  AnswerReader& operator=(const AnswerReader&) = delete;

  // `items`: one for each item sent, in their order. kRetriable: the body is not an answer to them, none is set.
  Result<> read_items(std::string_view body, std::span<ItemAnswer> items);

  // The words of an error of a whole request; "" when it has none.
  [[nodiscard]] std::string read_error(std::string_view body);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace reseq::opensearch
