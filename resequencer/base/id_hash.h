// IdHash: the hash of tables in memory whose keys come from outside. It is keyed with bytes that the kernel drew for
// this process, so that nobody can choose ids that all fall into one bucket. Its values differ from run to run and
// never leave the process.
// Thread rule: any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace reseq {

struct IdHash {
  using is_transparent = void;
  [[nodiscard]] std::size_t operator()(std::string_view id) const;
};

}  // namespace reseq
