// The name of a document's file. An id is any bytes: nothing of it reaches a path but what is spelled out here.
//
//   path   = fold "/" fold "/" name
//   fold   = 2HEX                        ; the first and the second byte of the id's hash, so that no folder gets large
//   name   = text                        ; up to kPlainNameMax bytes
//          / head "~" 32HEX [ "~" n ]    ; longer ones: the beginning of the text and the id's hash; n = 2, 3 .. only
//                                        ; if another id has that name already
//   text   = 1*( plain / "%" 2HEX )      ; byte by byte
//   plain  = a-z / 0-9 / "-" / "_" / "." ; a "." neither first, nor last, nor behind another
//
// HEX is lower case, and so is everything: names that differ differ on disks that fold case as well. A text stands for
// one id only, and has no "~".
// Thread rule: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace reseq::files {

inline constexpr std::size_t kPlainNameMax = 180;  // a name may have 255 bytes, on some disks 143 characters and more

// Path below the folder of documents. `attempt` counts from 1 and matters for long names only.
[[nodiscard]] std::string file_name(std::string_view id, std::uint64_t attempt);

// Names of this id are its own, so there is no second attempt.
[[nodiscard]] bool has_plain_name(std::string_view id);

}  // namespace reseq::files
