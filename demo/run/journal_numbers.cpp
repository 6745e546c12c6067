#include "demo/run/journal_numbers.h"

#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "demo/run/report_parts.h"

namespace reseq::demo {
namespace {

using Told = std::function<std::string(const DispatchNumbers&)>;

// A row with a column for each run.
std::string both(const JournalNumbers& numbers, const std::string& label, const Told& told) {
  char text[200];
  std::snprintf(text, sizeof text, "  %-34s %-24s %s\n", label.c_str(), told(numbers.journal).c_str(),
                told(numbers.immediate).c_str());
  return text;
}

// Milliseconds below a second.
std::string duration(double ms) {
  char text[40];
  if (ms < 999.5)
    std::snprintf(text, sizeof text, "%.0f ms", ms);
  else
    std::snprintf(text, sizeof text, "%.1f s", ms / 1'000);
  return text;
}

std::string wait_text(const Wait& wait) {
  return wait.requests == 0 ? "-" : "p50 " + duration(wait.p50_ms) + ", p99 " + duration(wait.p99_ms);
}

std::string waits_text(const JournalNumbers& numbers, const std::string& label, Waits DispatchNumbers::*which) {
  const auto row = [&](const std::string& name, const Told& told) { return both(numbers, name, told); };
  return row(label, [&](const auto& run) { return std::to_string((run.*which).requests); }) +
         row("  readable on work after", [&](const auto& run) { return wait_text((run.*which).readable); }) +
         row("  begun by a worker after", [&](const auto& run) { return wait_text((run.*which).begun); });
}

std::string target_text(const JournalNumbers& numbers, std::size_t target) {
  return both(numbers, "target " + numbers.journal.targets[target].name, [&](const DispatchNumbers& run) {
    const Comparison& with = run.targets.at(target).with;
    return std::to_string(with.equal) + " of " + std::to_string(with.expected) + " right";
  });
}

void check_run(const DispatchNumbers& run, std::vector<std::string>& failures) {
  for (const auto& target : run.targets) tell_what_differs(run.dispatch + ": " + target.name, target.with, failures);
  if (run.skipped > 0)
    failures.push_back(run.dispatch + ": " + std::to_string(run.skipped) + " changes could not be sent");
}

nlohmann::ordered_json wait_json(const Wait& wait) {
  return {{"requests", wait.requests}, {"p50_ms", wait.p50_ms}, {"p99_ms", wait.p99_ms}};
}

nlohmann::ordered_json waits_json(const Waits& waits) {
  return {{"requests", waits.requests}, {"readable", wait_json(waits.readable)}, {"begun", wait_json(waits.begun)}};
}

nlohmann::ordered_json run_json(const DispatchNumbers& run) {
  nlohmann::ordered_json targets = nlohmann::json::object();
  for (const auto& target : run.targets)
    targets[target.name] = {{"documents", target.with.expected},
                            {"equal", target.with.equal},
                            {"wrong", target.with.wrong()},
                            {"resurrected", target.with.resurrected}};
  return {{"skipped", run.skipped},
          {"superseded_before_work", run.superseded_before_work},
          {"seconds", run.seconds},
          {"live", waits_json(run.live)},
          {"backfill", waits_json(run.backfill)},
          {"killed", run.killed},
          {"stood_still", run.stood_still},
          {"given_back", run.given_back},
          {"work_begun", run.work.begun},
          {"work_begun_again", run.work.again},
          {"targets", targets}};
}

}  // namespace

std::vector<std::string> failures(const JournalNumbers& numbers) {
  std::vector<std::string> failures;
  for (const DispatchNumbers* run : {&numbers.journal, &numbers.immediate}) check_run(*run, failures);
  if (numbers.journal.given_back == 0) failures.emplace_back("no lease gave a document back");
  return failures;
}

std::string table_text(const JournalNumbers& numbers) {
  const auto row = [&](const std::string& label, const Told& told) { return both(numbers, label, told); };
  std::string text = "\n" + row("dispatch.mode", [](const auto& run) { return run.dispatch; });
  text += waits_text(numbers, "live edits", &DispatchNumbers::live);
  text += waits_text(numbers, "backfill", &DispatchNumbers::backfill);
  text += row("superseded before work", [](const auto& run) { return std::to_string(run.superseded_before_work); });
  text += row("seconds", [](const auto& run) { return fixed(run.seconds, 1); });
  text += row("workers killed, stood still",
              [](const auto& run) { return std::to_string(run.killed) + ", " + std::to_string(run.stood_still); });
  text += row("documents given back by leases", [](const auto& run) {
    return run.dispatch == "journal" ? std::to_string(run.given_back) : "none: there are no leases";
  });
  text += row("work begun", [](const auto& run) { return std::to_string(run.work.begun); });
  text += row("  once more for the same request", [](const auto& run) { return std::to_string(run.work.again); });
  for (std::size_t target = 0; target < numbers.journal.targets.size(); ++target) text += target_text(numbers, target);
  return text;
}

std::string report_json(const JournalNumbers& numbers, const std::vector<std::string>& failures) {
  const nlohmann::ordered_json report = {{"ok", failures.empty()},
                                         {"failures", failures},
                                         {"commit", numbers.commit},
                                         {"journal", run_json(numbers.journal)},
                                         {"immediate", run_json(numbers.immediate)}};
  return report_text(report);
}

}  // namespace reseq::demo
