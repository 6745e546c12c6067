// SilentSink: takes every record and sends none, for a dry run.
// Thread rule: one thread.
#pragma once

#include "producers/tagging/request_sink.h"

namespace reseq::sending {

class SilentSink final : public tagging::RequestSink {
 public:
  Result<> produce(const tagging::TaggedRecord& /*record*/) override { return Done{}; }
  void poll(Milliseconds /*limit*/) override {}
  Result<> flush(Milliseconds /*limit*/) override { return Done{}; }
};

}  // namespace reseq::sending
