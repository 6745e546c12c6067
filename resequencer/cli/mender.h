// Mender: what is done to the documents of a selection, a page at a time.
// Thread rule: main thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/operations.h"
#include "cli/selection.h"
#include "runtime/application/application.h"

namespace reseq::cli {

// What became of the documents of a selection.
class Tally {
 public:
  void done(std::int64_t partition) { ++partitions_[partition].done, ++done_; }
  void left_out(std::int64_t partition, const std::string& why) { ++partitions_[partition].left_out, ++reasons_[why]; }
  [[nodiscard]] std::int64_t seen() const;
  // `what` was done: "expired".
  [[nodiscard]] std::string text(const std::string& what) const;
  [[nodiscard]] admin::Json json() const;

 private:
  struct Counts {
    std::int64_t done = 0, left_out = 0;
  };
  std::map<std::int64_t, Counts> partitions_;
  std::map<std::string, std::int64_t> reasons_;
  std::int64_t done_ = 0;
};

class Mender {
 public:
  virtual ~Mender() = default;
  // Why it is not to be done for this one; empty: it is.
  [[nodiscard]] virtual std::string obstacle(const SelectedPage& page, const admin::Json& document) const = 0;
  // For those without one. kTimeout: some are not confirmed, and not counted.
  virtual Result<> mend(const SelectedPage& page, const std::vector<admin::Json>& documents, Tally& tally) = 0;
  // "expired", behind "would be" too.
  [[nodiscard]] virtual std::string done() const = 0;
};

// Of a document in an answer; its bytes, whatever they are.
[[nodiscard]] std::string id_of(const admin::Json& document);

// They keep what they are given. A new one writes nothing yet.
[[nodiscard]] Result<std::unique_ptr<Mender>> open_expiry(const runtime::Application& application,
                                                          const Selection& selection, const OperationOptions& options);
[[nodiscard]] Result<std::unique_ptr<Mender>> open_reprocessing(const runtime::Application& application,
                                                                Session& session, const Selection& selection,
                                                                const OperationOptions& options);

}  // namespace reseq::cli
