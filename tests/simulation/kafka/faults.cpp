#include "tests/simulation/kafka/faults.h"

#include <algorithm>
#include <array>
#include <string>

namespace reseq::simulation {

namespace {

bool of_producer(Call call) {
  return call == Call::kBegin || call == Call::kProduce || call == Call::kFlush || call == Call::kSendOffsets ||
         call == Call::kCommit || call == Call::kAbort;
}

}  // namespace

Fault Faults::next(Call call, Draw& draw) {
  ++calls_[static_cast<std::size_t>(call)];
  const auto ordered =
      std::find_if(ordered_.begin(), ordered_.end(), [&](const auto& order) { return order.first == call; });
  if (ordered != ordered_.end()) {
    const Fault fault = ordered->second;
    ordered_.erase(ordered);
    return fault;
  }
  if ((call == Call::kCommit || call == Call::kAbort) && draw.chance(rates_.ending)) {
    static constexpr std::array<Fault, 5> kEnding = {Fault::kUnanswered, Fault::kLate, Fault::kRepeated, Fault::kFatal,
                                                     Fault::kFatalHappened};
    return kEnding[draw.below(kEnding.size())];
  }
  if (of_producer(call) && draw.chance(rates_.fatal)) return Fault::kFatal;
  // begin() asks nobody.
  if (call == Call::kBegin || !draw.chance(rates_.passing)) return Fault::kNone;
  // Only a full queue is retriable for produce().
  return call == Call::kProduce || draw.chance(500) ? Fault::kRetriable : Fault::kTimeout;
}

std::optional<Error> refusal(Fault fault, std::string_view what) {
  const std::string name(what);
  switch (fault) {
    case Fault::kRetriable:
      return Error{ErrorClass::kRetriable, 0, name + ": the broker is not available"};
    case Fault::kTimeout:
      return Error{ErrorClass::kTimeout, 0, name + ": timed out"};
    case Fault::kFatal:
      return Error{ErrorClass::kFatal, 0, name + ": the client has failed"};
    case Fault::kNone:
    case Fault::kUnanswered:
    case Fault::kLate:
    case Fault::kRepeated:
    case Fault::kFatalHappened:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace reseq::simulation
