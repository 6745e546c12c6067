// gzip: a body of a request, compressed fast rather than well. The only place that includes zlib.
// Thread rule: pure.
#pragma once

#include <string>
#include <string_view>

namespace reseq::opensearch {

// Overwrites `out`, and keeps its memory.
void gzip(std::string_view bytes, std::string& out);

}  // namespace reseq::opensearch
