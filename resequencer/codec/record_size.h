// How many bytes records take in Kafka's log, as upper bounds: checked before anything is produced, because a record
// that its topic refuses would abort the whole transaction, again and again.
// Thread rule: any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/header.h"
#include "model/target.h"

namespace reseq::codec {

// Upper bound of the bytes a record takes in a batch of its own: key, value, headers, varints, batch header.
[[nodiscard]] std::uint64_t record_bytes_max(std::size_t key_bytes, std::size_t value_bytes,
                                             std::span<const Header> headers);
// Of one header within a record.
[[nodiscard]] std::uint64_t header_bytes_max(std::size_t name_bytes, std::size_t value_bytes);
// What the resequencer adds at most to a forwarded or released record (its headers), for the bounds in Command.
// `subject_bytes`: of the id as a CloudEvent's subject; 0 = none is written.
[[nodiscard]] std::uint64_t added_bytes_max(const TargetTable& targets, std::size_t subject_bytes);
// Of the record that tells an output that there is no result.
[[nodiscard]] std::uint64_t marker_bytes_max(std::size_t id_bytes, std::size_t error_bytes);
// With a journal, a forwarded one beside that.
[[nodiscard]] std::uint64_t dispatch_bytes_max();

}  // namespace reseq::codec
