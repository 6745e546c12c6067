#include "demo/run/dead_letter.h"

#include <charconv>
#include <string_view>

#include "codec/target_names.h"
#include "demo/run/topic_reader.h"

namespace reseq::demo {

DeadLetter dead_letter_of(const kafka::PlainRecord& record) {
  DeadLetter letter{.id = key_of(record),
                    .sequence = sequence_of(record),
                    .reason = std::string(header_of(record, "reseq-reason")),
                    .error = std::string(header_of(record, "reseq-error")),
                    .targets = codec::names_in(header_of(record, "reseq-targets")),
                    .attempts = number_of(header_of(record, "reseq-attempts")),
                    .source_topic = std::string(header_of(record, "reseq-source-topic"))};
  const std::string_view offset = header_of(record, "reseq-source-offset");
  std::from_chars(offset.data(), offset.data() + offset.size(), letter.source_offset);
  return letter;
}

}  // namespace reseq::demo
