// Random inputs of one document, and random orders of them.
#include "tests/property/interleaving.h"

#include <algorithm>
#include <vector>

#include "base/assert.h"
#include "engine/gate.h"
#include "tests/property/model.h"
#include "tests/property/past.h"

namespace reseq::property {
namespace {

constexpr std::string_view kId = kIds[0];
constexpr std::uint64_t kMostOrders = 5;
constexpr std::uint64_t kBatchMax = 4;
constexpr int kWindowsMax = 200;  // more than it takes to let everything through

// What one order is about.
struct Subject {
  Order order;
  Op op = Op::kUpsert;
  TargetSet targets;  // empty: a delete for all
};

std::uint64_t below(std::mt19937_64& random, std::uint64_t end) {
  return random() % end;
}

TargetSet draw_targets(std::mt19937_64& random) {
  return TargetSet(1 + below(random, kEveryTarget.bits()));
}

Registration registration_of(const Subject& subject) {
  Registration what;
  what.id = kId;
  what.epoch = subject.order.epoch;
  what.sequence = subject.order.sequence;
  what.op = subject.op;
  if (!subject.targets.empty()) what.targets = subject.targets;
  return what;
}

SequenceResult result_of(const Subject& subject, TargetNumber t) {
  SequenceResult result;
  result.id = kId;
  result.epoch = subject.order.epoch;
  result.sequence = subject.order.sequence;
  result.target = t;
  result.op = subject.op;
  result.output_bytes = 1;
  return result;
}

// Adds the commands in any order among the others, but in their own.
void merge(std::vector<Command>& into, const std::vector<Command>& commands, std::mt19937_64& random) {
  std::size_t from = 0;
  for (const Command& command : commands) {
    from += below(random, into.size() - from + 1);
    into.insert(into.begin() + static_cast<std::ptrdiff_t>(from), command);
    ++from;
  }
}

void merge_results(std::vector<Command>& into, const Subject& subject, TargetSet targets, std::mt19937_64& random) {
  for (const TargetNumber t : targets) merge(into, {result_of(subject, t)}, random);
}

// Finds out that the order has further targets, or that it is a delete for all.
std::vector<Command> fork(Subject subject, std::mt19937_64& random) {
  const bool for_all = subject.op == Op::kDelete && below(random, 6) == 0;
  subject.targets = for_all ? TargetSet() : draw_targets(random);
  std::vector<Command> results;
  merge_results(results, subject, for_all ? kEveryTarget : subject.targets, random);
  results.insert(results.begin(), Register{registration_of(subject)});
  return results;
}

void add_subject(Inputs& inputs, const Subject& subject, std::mt19937_64& random) {
  Worker worker;
  if (below(random, 8) != 0) {
    worker.request = inputs.requests.size();
    Request request;
    request.what = registration_of(subject);
    request.hash = PayloadHash(inputs.requests.size());
    inputs.requests.push_back(request);
    if (below(random, 4) == 0) inputs.requests.push_back(request);  // written twice
    merge_results(worker.commands, subject, subject.targets.empty() ? kEveryTarget : subject.targets, random);
  } else {
    worker.commands = fork(subject, random);
  }
  if (below(random, 2) == 0) merge(worker.commands, fork(subject, random), random);
  inputs.workers.push_back(worker);
  if (below(random, 4) == 0) inputs.workers.push_back(worker);  // the work was done twice
}

}  // namespace

Inputs draw_inputs(std::mt19937_64& random) {
  Inputs inputs;
  const std::uint64_t orders = 2 + below(random, kMostOrders - 1);
  for (std::uint64_t i = 1; i <= orders; ++i) {
    Subject subject;
    subject.order.epoch = Epoch(below(random, 8) == 0 ? 1 : 0);
    subject.order.sequence = sequence_of(static_cast<std::uint32_t>(i));
    if (below(random, 4) == 0) subject.op = Op::kDelete;
    if (subject.op == Op::kUpsert || below(random, 2) == 0) subject.targets = draw_targets(random);
    add_subject(inputs, subject, random);
  }
  return inputs;
}

Shown asked_for(const Inputs& inputs) {
  std::array<std::optional<std::pair<Order, Op>>, kTargets> highest;
  const auto ask = [&](const Registration& what) {
    const Order order{what.epoch.value_or(Epoch(0)), what.sequence, what.revision};
    for (const TargetNumber t : what.targets.value_or(kEveryTarget)) {
      auto& at = highest[t.value()];
      if (!at || at->first < order) at = {order, what.op};
    }
  };
  for (const Command& command : inputs.requests) ask(std::get<Request>(command).what);
  for (const Worker& worker : inputs.workers)
    for (const Command& command : worker.commands)
      if (const auto* registered = std::get_if<Register>(&command)) ask(registered->what);
  Shown shown;
  for (std::size_t t = 0; t < kTargets; ++t)
    if (highest[t] && highest[t]->second == Op::kUpsert) shown[t] = highest[t]->first;
  return shown;
}

namespace {

// A document of its own, decided input by input.
class Table {
 public:
  Table(const WrongEngine& engine, std::mt19937_64& random, bool gated) : engine_(engine), random_(random) {
    context_.now = kStart;
    if (gated) context_.gate = &window_gate();
    context_.all_targets = kEveryTarget;
    context_.default_targets = TargetSet(1);
  }

  // Decided with the others of its batch.
  void take(const Command& command, Log log) {
    batch_.push_back({command, log, Offset(next_++)});
    if (batch_.size() >= size_) decide();
  }

  [[nodiscard]] const Played& played() {
    decide();
    for (int windows = 0; !rows_.others.all().empty() && windows < kWindowsMax; ++windows) decide();
    return played_;
  }

 private:
  void decide() {
    std::vector<PlannedInput> planned;
    for (const Input& input : batch_) planned.push_back({&input, true});
    std::vector<driver::GateTurn> turns;
    if (context_.gate != nullptr) {
      context_.now = UnixMs(context_.now.value() + static_cast<std::int64_t>(below(random_, kWindowMs)));
      for (const engine::AgendaKind& kind : context_.gate->agenda())
        turns.push_back({kind.number, context_.now, kTurnRows});
    }
    const Plan plan{planned, {}, turns};
    Decided decided = property::decide(plan, rows_, state_, context_, engine_);
    RESEQ_ASSERT(decided.taken == batch_.size(), "all requests are read, so nothing has to wait");
    if (engine_.corrupt) engine_.corrupt(decided, plan, rows_);
    for (const ChangedRow& change : decided.changes) rows_[change.document] = change.row;
    for (const OtherRow& change : decided.others) rows_.others.put(change.key, change.value);
    state_ = decided.state;
    std::vector<Entry> entries(batch_.size());
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      entries[i].input = batch_[i];
      entries[i].decision = decided.decisions[i];
    }
    for (const Emission& emission : decided.emissions)
      if (const auto* release = std::get_if<Release>(&emission.what)) {
        if (emission.input.value() < entries.size()) entries[emission.input.value()].release = *release;
        auto& shown = played_.shown[release->target.value()];
        shown = release->op == Op::kUpsert ? std::optional(release->order) : std::nullopt;
      }
    for (const Entry& entry : entries) played_.story += "    " + describe(entry) + "\n";
    if (!batch_.empty()) played_.story += "    --\n";
    batch_.clear();
    size_ = 1 + below(random_, kBatchMax);
  }

  const WrongEngine& engine_;
  std::mt19937_64& random_;
  engine::Context context_;
  Rows rows_;
  PartitionState state_;
  std::int64_t next_ = 0;
  std::vector<Input> batch_;
  std::size_t size_ = 1;
  Played played_;
};

}  // namespace

Played play(const Inputs& inputs, std::mt19937_64& random, const WrongEngine& engine, bool gated) {
  Table table(engine, random, gated);
  std::vector<bool> requested(inputs.requests.size());
  std::vector<std::size_t> done(inputs.workers.size());
  while (true) {
    std::vector<std::size_t> able;  // requests, and behind their numbers those of workers
    for (std::size_t i = 0; i < requested.size(); ++i)
      if (!requested[i]) able.push_back(i);
    for (std::size_t i = 0; i < done.size(); ++i) {
      const Worker& worker = inputs.workers[i];
      const bool begins = !worker.request || requested[*worker.request];
      if (begins && done[i] < worker.commands.size()) able.push_back(requested.size() + i);
    }
    if (able.empty()) return table.played();
    const std::size_t next = able[below(random, able.size())];
    if (next < requested.size()) {
      requested[next] = true;
      table.take(inputs.requests[next], Log::kRequests);
    } else {
      const std::size_t worker = next - requested.size();
      table.take(inputs.workers[worker].commands[done[worker]++], Log::kCommands);
    }
  }
}

}  // namespace reseq::property
