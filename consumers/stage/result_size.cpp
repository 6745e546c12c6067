#include "consumers/stage/result_size.h"

#include <string>

#include "codec/record_size.h"

namespace reseq::stage {

Result<std::uint64_t> fitting_bytes(std::optional<std::string_view> key, std::optional<std::string_view> payload,
                                    std::span<const Header> headers, std::uint64_t topic_max) {
  const std::uint64_t bytes = codec::record_bytes_max(key ? key->size() : 0, payload ? payload->size() : 0, headers);
  if (bytes <= topic_max) return bytes;
  return Error{.what_to_do = ErrorClass::kInvalid,
               .message = "a result takes up to " + std::to_string(bytes) + " bytes, its topic allows " +
                          std::to_string(topic_max) + " (max.message.bytes)"};
}

}  // namespace reseq::stage
