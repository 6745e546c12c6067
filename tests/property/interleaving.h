// Interleaving: requests and the commands of workers, in any order that keeps what cannot be otherwise: a worker begins
// behind the request that it works on, and its commands come in the order it writes them (REGISTER before the result).
// What a sink holds at the end must not depend on the rest of that order.
// Thread rule: plain values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/property/deciding.h"
#include "tests/property/history.h"

namespace reseq::property {

// One process that works on an order. It may have learned of it from a request, which then comes first, or otherwise.
struct Worker {
  std::optional<std::size_t> request;  // index in Inputs::requests
  std::vector<Command> commands;
};

// Of one document: explicit target lists, but for deletes that are meant for all. Every target that an order is
// registered for has a result.
struct Inputs {
  std::vector<Command> requests;
  std::vector<Worker> workers;
};

// What the sink of each target holds: the order of its last release; none: it holds nothing, or a deletion.
using Shown = std::array<std::optional<Order>, kTargets>;

[[nodiscard]] Inputs draw_inputs(std::mt19937_64& random);

// What was asked for, in a sentence: each target shows the highest order that a request or a REGISTER asked for it; it
// shows nothing if that is a delete, or if a delete for all is as high.
[[nodiscard]] Shown asked_for(const Inputs& inputs);

struct Played {
  Shown shown;
  std::string story;  // for a person
};

// Plays the inputs in a random order, in batches of random sizes. `gated`: a gate holds some of the requests, and the
// clock goes on meanwhile.
[[nodiscard]] Played play(const Inputs& inputs, std::mt19937_64& random, const WrongEngine& engine, bool gated);

}  // namespace reseq::property
