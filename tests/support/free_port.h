// A port of loopback for a server of a test.
// Thread rule: any thread.
#pragma once

#include <cstdint>

namespace reseq::test {

// One that nobody listens on, below the range that outgoing connections take theirs from: so it is free again when the
// server is started again. Throws when there is none.
[[nodiscard]] std::uint16_t free_port();

}  // namespace reseq::test
