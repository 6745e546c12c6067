// read_topic: a whole topic, as a reader of what is committed finds it now.
// Thread rule: one thread.
#pragma once

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

}  // namespace reseq::demo
