#include "demo/run/completion.h"

#include "demo/run/connection.h"
#include "demo/run/progress_files.h"

namespace reseq::demo {
namespace {

constexpr Milliseconds kOffsetsAskLimit{10'000};

constexpr const char* kResultsStep = "results";

}  // namespace

Result<Completion> Completion::open(const Settings& settings) {
  auto admin = kafka::Admin::open(connection_of(settings));
  if (!admin) return admin.error();
  const std::string& application = settings.application_id;
  std::vector<Step> steps = {
      {"requests", application, settings.topic("requests"), ""},
      {"work", settings.pipeline_group(), settings.pipeline_topic(), ""},
      {kResultsStep, application, settings.topic("commands"), ""},
  };
  for (const std::string& target : settings.targets_with_sinks()) {
    steps.push_back({target, "", settings.output_topic(target), settings.in_work(target + ".progress")});
    if (!settings.unchecked_too()) continue;
    steps.push_back({target + " without check", "", settings.topic("commands"),
                     settings.in_work("unchecked-" + target + ".progress")});
  }
  return Completion(std::move(admin).value(), std::move(steps));
}

Result<std::vector<Offset>> Completion::positions(const Step& step, std::size_t partitions) {
  std::vector<Offset> positions(partitions, kNoOffset);
  const auto set = [&](Partition partition, Offset next) {
    const auto index = static_cast<std::size_t>(partition.value());
    if (index < partitions) positions[index] = next;
  };
  if (step.group.empty()) {
    const std::optional<SinkProgress> progress = sink_progress(step.progress_file);
    if (progress)
      for (const auto& [partition, next] : progress->positions) set(partition, next);
    return positions;
  }
  auto committed = admin_->committed(step.group, step.topic, kOffsetsAskLimit);
  if (!committed) return committed.error();
  for (const kafka::PlainOffset& offset : committed.value()) set(offset.partition, offset.offset);
  return positions;
}

Result<Flow> Completion::sweep() {
  Result<Flow> flow = look();
  if (flow) return flow;
  // No answer is no news: the next sweep asks again.
  const ErrorClass kind = flow.error().what_to_do;
  if (kind != ErrorClass::kRetriable && kind != ErrorClass::kTimeout) return flow;
  ends_before_.clear();
  return Flow{.waiting_for = "an answer of Kafka"};
}

Result<Completion::StepState> Completion::look_at(const Step& step) {
  auto ends = admin_->stable_ends(step.topic, kOffsetsAskLimit);
  if (!ends) return ends.error();
  auto reached = positions(step, ends.value().size());
  if (!reached) return reached.error();
  StepState state;
  for (const kafka::PlainOffset& end : ends.value()) {
    const Offset position = reached.value()[static_cast<std::size_t>(end.partition.value())];
    // Where nothing was ever written nobody has to have been.
    if (end.offset > Offset(0) && position < end.offset) state.behind = true;
    if (position > Offset(0)) state.read += static_cast<std::uint64_t>(position.value());
    state.ends.push_back(end.offset);
  }
  return state;
}

bool Completion::requests_decided() {
  const Result<StepState> state = look_at(steps_.front());
  return state && !state.value().behind;
}

Result<Flow> Completion::look() {
  Flow flow;
  std::vector<Offset> ends;
  for (const Step& step : steps_) {
    Result<StepState> state = look_at(step);
    if (!state) return state.error();
    if (state.value().behind && flow.waiting_for.empty()) flow.waiting_for = step.name;
    if (&step == &steps_.front()) flow.requests_decided = !state.value().behind;
    if (step.name == kResultsStep) flow.commands_decided = state.value().read;
    flow.read += state.value().read;
    ends.insert(ends.end(), state.value().ends.begin(), state.value().ends.end());
  }
  if (!flow.waiting_for.empty()) ends.clear();
  flow.complete = !ends.empty() && ends == ends_before_;
  if (!flow.complete && flow.waiting_for.empty()) flow.waiting_for = "a second look";
  ends_before_ = std::move(ends);
  return flow;
}

}  // namespace reseq::demo
