// BulkWriter: sends a body to _bulk, in as many requests as it takes, and answers item by item. What the server finds
// too large, or refuses as a whole, is sent again in halves, until it is one item that is refused alone: no item stands
// in the way of its neighbours, nor of what comes behind it. It is refused only if the server takes another request, by
// the same path: when none goes well, it is not about an item.
// Thread rule: one thread.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "consumers/opensearch/bulk_answer.h"
#include "consumers/opensearch/bulk_body.h"
#include "consumers/opensearch/http_client.h"

namespace reseq::opensearch {

struct BulkLimits {
  std::size_t request_bytes = std::size_t{8} << 20;  // a larger item goes alone
};

class BulkWriter {
 public:
  // `path`: that of _bulk, with its parameters. REQUIRES: the client outlives it.
  BulkWriter(HttpClient& client, std::string path, BulkLimits limits)
      : client_(client), path_(std::move(path)), limits_(limits) {}

  // `answers`: one per item of the body, each kAgain at the call; those that are known are set, to kStored, kNotNewer,
  // kRefused or kAgain. An error is about all that is still kAgain. kRetriable, kTimeout: the server is away or busy.
  // kInvalid: nothing can be written as things are.
  Result<> send(const BulkBody& body, std::span<ItemAnswer> answers);

 private:
  struct Range {
    std::size_t begin;
    std::size_t end;
  };
  [[nodiscard]] std::vector<Range> requests_of(const BulkBody& body) const;
  Result<> send_range(const BulkBody& body, std::span<ItemAnswer> answers, Range range, std::vector<Range>& open);
  // The item is refused by a request of its own. An error: another request is refused, too, so it is not the item.
  Result<> refuse(ItemAnswer& item, const HttpAnswer& answer);
  // Good: the server takes a request with an item that it cannot carry out.
  Result<> try_another();
  Result<> take_items(std::string_view answer, std::span<ItemAnswer> answers);
  Error error_of(const HttpAnswer& answer);

  HttpClient& client_;
  std::string path_;
  BulkLimits limits_;
  AnswerReader reader_;
  bool went_well_ = false;  // some request was answered item by item
};

}  // namespace reseq::opensearch
