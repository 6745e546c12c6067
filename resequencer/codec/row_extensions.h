// The extensions of a document's row that this version knows; their grammar stands at the head of document_row.cpp.
// Thread rule: pure functions.
#pragma once

#include <string_view>

#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "model/row.h"

namespace reseq::codec {

// Returns what is still to be written of those that this version does not know: it stands behind all others.
[[nodiscard]] std::string_view write_row_extensions(const Row& row, ByteWriter& writer);
// Those that this version knows are read, the others kept in row.extensions.
void read_row_extensions(Row& row, ByteReader& in);

}  // namespace reseq::codec
