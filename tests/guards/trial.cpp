#include "tests/guards/trial.h"

#include <exception>
#include <future>
#include <map>
#include <utility>

#include "tests/support/broker.h"

namespace reseq::test {

namespace {

using Name = std::pair<std::string_view, std::string_view>;  // of the fault; guards that are left out

// What a fault does without its guard may depend on what a thread of librdkafka hears in time, on a busy machine.
constexpr int kTriesWithoutGuards = 3;

Outcome play_once(const Fault& fault, const std::vector<std::string>& environment) {
  try {
    return {fault.play(environment), ""};
  } catch (const std::exception& error) {
    return {"", error.what()};
  }
}

Outcome play(const Fault& fault, std::string_view guards_off) {
  if (guards_off.empty()) return play_once(fault, {});
  Outcome outcome;
  for (int i = 0; i < kTriesWithoutGuards && outcome.wrong.empty() && outcome.failed.empty(); ++i)
    outcome = play_once(fault, {"RESEQ_GUARD_OFF=" + std::string(guards_off)});
  return outcome;
}

std::map<Name, std::shared_future<Outcome>> start_all() {
  (void)Broker::shared();
  std::map<Name, std::shared_future<Outcome>> started;
  for (const Fault& fault : faults())
    for (const std::string_view off : {std::string_view(), fault.guards})
      started.emplace(Name(fault.name, off), std::async(std::launch::async, play, std::cref(fault), off));
  return started;
}

}  // namespace

const Outcome& outcome_of(const Fault& fault, std::string_view guards_off) {
  static const std::map<Name, std::shared_future<Outcome>> kStarted = start_all();
  return kStarted.at({fault.name, guards_off}).get();
}

}  // namespace reseq::test
