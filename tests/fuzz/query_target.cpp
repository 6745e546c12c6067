// Queries of the admin topic: what is refused says why, in bounded words; what is read is written as a query that reads
// the same.
#include <variant>

#include "admin/query.h"
#include "base/assert.h"
#include "targets.h"

namespace reseq::fuzz {

void fuzz_query(std::string_view input) {
  constexpr std::size_t kDetailMax = 4'096;
  const auto asked = admin::parse_request(input);
  if (const auto* refused = std::get_if<admin::Refused>(&asked)) {
    RESEQ_ASSERT(!refused->detail.empty(), "a refusal without a reason");
    RESEQ_ASSERT(refused->detail.size() <= kDetailMax + input.size(), "a reason without a bound");
    return;
  }
  const std::string written = admin::write_request(std::get<admin::Request>(asked));
  const auto again = admin::parse_request(written);
  RESEQ_ASSERT(std::holds_alternative<admin::Request>(again), "a query that is written and cannot be read");
  RESEQ_ASSERT(admin::write_request(std::get<admin::Request>(again)) == written, "a query that changes on its way");
}

}  // namespace reseq::fuzz
