// A consumed record and how it is to be read, out of the input of a fuzzer: headers by their known names or any bytes.
// Thread rule: one thread.
#pragma once

#include <memory>

#include "codec/wire.h"
#include "pieces.h"
#include "tests/unit/codec/sample_record.h"

namespace reseq::fuzz {

struct FuzzedRecord {
  codec::SampleRecord record;
  codec::DecodeContext context;
  std::unique_ptr<Arena> arena;  // of the context
};

// Reads what it needs of the pieces; the rest is the caller's.
[[nodiscard]] FuzzedRecord read_record(Pieces& pieces);

// The input that reads as this record with two targets; for seeds. Values are short (Pieces::of).
struct WrittenHeader {
  std::string_view name;
  std::string_view value;
};
[[nodiscard]] std::string write_record(Role role, SequenceKind kind, std::initializer_list<WrittenHeader> headers,
                                       bool journal = false);

}  // namespace reseq::fuzz
