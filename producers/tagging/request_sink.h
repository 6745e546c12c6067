// RequestSink: where tagged records go. The one seam of the producers to the world behind them.
// Thread rule: one thread.
#pragma once

#include "base/result.h"
#include "model/ids.h"
#include "producers/tagging/tagged_record.h"

namespace reseq::tagging {

class RequestSink {
 public:
  virtual ~RequestSink() = default;

  // Queues a record; its bytes are copied. kRetriable: the queue is full, poll() and try again. kInvalid: this record
  // can never be sent (too large). Any other error: nothing more can be sent.
  virtual Result<> produce(const TaggedRecord& record) = 0;

  // Serves delivery reports, waits at most `limit`.
  virtual void poll(Milliseconds limit) = 0;

  // Good only when every record queued so far was acknowledged. kTimeout: some are still on their way.
  virtual Result<> flush(Milliseconds limit) = 0;
};

}  // namespace reseq::tagging
