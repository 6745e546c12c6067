#include "consumers/opensearch/gzip.h"

#include <zlib.h>

#include "base/assert.h"

namespace reseq::opensearch {
namespace {

constexpr int kWindowBits = 15 + 16;  // + 16: gzip instead of zlib
constexpr int kMemoryLevel = 8;

}  // namespace

void gzip(std::string_view bytes, std::string& out) {
  z_stream stream{};
  RESEQ_ASSERT(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kWindowBits, kMemoryLevel, Z_DEFAULT_STRATEGY) == Z_OK,
               "out of memory");
  out.resize(deflateBound(&stream, bytes.size()));
  // zlib does not write through it.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  RESEQ_ASSERT(deflate(&stream, Z_FINISH) == Z_STREAM_END, "a buffer of the bound was too small");
  out.resize(stream.total_out);
  deflateEnd(&stream);
}

}  // namespace reseq::opensearch
