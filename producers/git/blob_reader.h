// BlobReader: contents of blobs, by one `git cat-file --batch` for the whole run.
//   ask    := object NUL-free LF
//   answer := object ' ' type ' ' size LF bytes LF  |  object " missing" LF
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "producers/git/child_process.h"
#include "producers/git/output_reader.h"
#include "producers/git/repository.h"

namespace reseq::git {

struct Blob {
  std::uint64_t bytes = 0;
  std::optional<std::string> content;  // absent: larger than asked for
};

class BlobReader {
 public:
  [[nodiscard]] static Result<BlobReader> start(const Repository& repository);

  // Asks for a blob. Answers come in the order of the questions; at most kAsksMax may be open, so that neither side
  // waits for the other with a full buffer.
  static constexpr std::size_t kAsksMax = 256;
  Result<> ask(const std::string& object);
  // The answer to the oldest open question. A content above `bytes_max` is passed over. kInvalid: the object is
  // missing or no blob.
  Result<Blob> answer(std::uint64_t bytes_max);

 private:
  explicit BlobReader(ChildProcess child);

  std::unique_ptr<ChildProcess> child_;  // on the heap, because the reader keeps its address
  OutputReader output_;
};

}  // namespace reseq::git
