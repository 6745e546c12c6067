// read_topic: a whole topic, as a reader of what is committed finds it now; and the fields of its records.
// Thread rule: one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "demo/run/settings.h"
#include "kafka/plain_record.h"

namespace reseq::demo {

// The record ends with the call.
Result<> read_topic(const Settings& settings, const std::string& topic,
                    const std::function<void(const kafka::PlainRecord&)>& take);

// The last value of that name; empty when it is absent or null.
[[nodiscard]] std::string_view header_of(const kafka::PlainRecord& record, std::string_view name);
// As a number, as far as it is one.
[[nodiscard]] std::uint64_t number_of(std::string_view text, std::uint64_t otherwise = 0);
[[nodiscard]] std::uint64_t sequence_of(const kafka::PlainRecord& record);
// Empty when there is none.
[[nodiscard]] std::string key_of(const kafka::PlainRecord& record);

}  // namespace reseq::demo
