// Routes: which targets a registration has that names none itself (`[[route]]`).
// Thread rule: pure functions.
#pragma once

#include <string_view>

#include "engine/context.h"
#include "model/command.h"

namespace reseq::engine {

// Targets of the first route whose conditions all hold, else the default ones.
[[nodiscard]] TargetSet routed(const Registration& what, const Context& context);

// Shell glob over all of `text`, byte by byte: no locale, no C strings, NUL is a byte like any other.
//   *  any bytes, none too ('/' as well)     ?  one byte     [abc] [a-z] [!a-z]  one byte in (not in) the set
//   \x the byte x itself; a '[' without its ']' is itself
// Each element of the pattern meets each byte of the text at most once, whatever the pattern.
[[nodiscard]] bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace reseq::engine
