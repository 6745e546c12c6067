#include "codec/byte_writer.h"

namespace reseq::codec {

void ByteWriter::grow_from(std::size_t used, std::size_t bytes) {
  out_.resize(used + bytes);
  at_ = out_.data() + used;
  end_ = out_.data() + out_.size();
}

}  // namespace reseq::codec
