// GitSource: a git history as a stream of changes. path = document id, place of the commit on the first-parent chain
// (1 = root) = sequence, blob = payload, a removed path = delete. Submodules are no documents: counted, not sent.
// Invariant: applied in order to an empty map, the stream gives what `git ls-tree -r` says of the commit.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "producers/git/blob_reader.h"
#include "producers/git/history_walk.h"
#include "producers/git/repository.h"
#include "producers/sending/change_source.h"

namespace reseq::git {

struct GitOptions {
  std::uint64_t blob_bytes_max = std::uint64_t{16} << 20;  // larger ones are reported and not sent
  std::vector<std::string> targets = {};                   // of every request
  std::optional<Epoch> epoch = {};                         // of every request
  std::uint64_t after = 0;                                 // commits up to this place are not sent
};

class GitSource final : public sending::ChangeSource {
 public:
  // Reads the whole history once, without contents, to know how much there is.
  [[nodiscard]] static Result<std::unique_ptr<GitSource>> open(const Repository& repository, GitOptions options);

  [[nodiscard]] std::string stream() const override;
  Result<> resume_after(const sending::Mark& mark) override;
  Result<std::optional<sending::Item>> next() override;
  [[nodiscard]] sending::Mark mark() const override;
  [[nodiscard]] std::string place() const override;
  [[nodiscard]] std::optional<std::uint64_t> items_to_come() const override { return items_ - begun_at_; }
  [[nodiscard]] std::vector<sending::Tally> tallies() const override;

 private:
  struct Waiting {
    Entry entry;
    std::string commit;
  };

  GitSource(GitOptions options, HistoryWalk walk, BlobReader blobs);
  // The next entry that is not a submodule's.
  Result<std::optional<Entry>> next_document();
  Result<> read_ahead();
  Result<sending::Item> item(const Entry& entry);

  GitOptions options_;
  HistoryWalk walk_;
  BlobReader blobs_;
  std::deque<Waiting> ahead_;  // read, their blobs asked for
  Waiting last_;               // what next() gave
  std::uint64_t items_ = 0;    // in the whole history
  std::uint64_t gitlinks_ = 0;
  std::uint64_t begun_at_ = 0;
  std::uint64_t position_ = 0;
};

}  // namespace reseq::git
