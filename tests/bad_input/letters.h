// What a dead letter must look like, from the input and its verdict alone: written by the contract
// (schemas/wire.md), not with the product's encoder.
// Thread rule: plain functions.
#pragma once

#include <string>

#include "tests/bad_input/record.h"

namespace reseq::test {

enum class LetterStyle : unsigned char { kReseq, kStreams, kSpring };

// The whole dead letter of an input that fits. `expected`: value of reseq-expected-seq, empty = not there.
[[nodiscard]] Record letter_of(const ReadRecord& input, const std::string& reason, const std::string& expected,
                               LetterStyle style = LetterStyle::kReseq);

// The record as clients in C see it: their names of headers end at a NUL.
[[nodiscard]] Record with_c_names(Record record);

}  // namespace reseq::test
