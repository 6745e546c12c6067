#include "demo/run/failure_numbers.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "demo/run/report_parts.h"

namespace reseq::demo {
namespace {

struct ClassName {
  FailureClass what;
  const char* key;
  const char* label;
};
constexpr std::array kClassNames{
    ClassName{FailureClass::kTransient, "transient", "locked for a moment (transient)"},
    ClassName{FailureClass::kPermanent, "permanent", "unreadable file (permanent)"},
    ClassName{FailureClass::kUnknown, "unknown", "exception (unknown)"},
    ClassName{FailureClass::kUniversalTransient, "universal_transient", "search engine down (universal)"},
    ClassName{FailureClass::kUniversalPermanent, "universal_permanent", "no index (universal, permanent)"},
};
constexpr std::size_t kFailedShown = 12;
constexpr std::uint64_t kManyTries = 4;  // and more are one column

std::string name_of(const TargetOrder& order) {
  return order.target + ": " + order.id + ", order " + std::to_string(order.sequence);
}

// Of a class that may be missing.
ClassCounts counts_of(const std::map<FailureClass, ClassCounts>& classes, FailureClass what) {
  const auto found = classes.find(what);
  return found == classes.end() ? ClassCounts() : found->second;
}

void check_lives(const FailureEvidence& evidence, std::uint64_t retries_max, std::vector<std::string>& problems) {
  for (const auto& [order, life] : evidence.lives()) {
    if (life.tried_again > retries_max)
      problems.push_back(name_of(order) + ": " + std::to_string(life.tried_again) + " retries, " +
                         std::to_string(retries_max) + " are allowed");
    const std::uint64_t reasons = 1 + life.tried_again + life.waited + life.leases_lost;
    if (life.tries > reasons)
      problems.push_back(name_of(order) + ": came to work " + std::to_string(life.tries) +
                         " times, for which there are " + std::to_string(reasons) + " reasons");
  }
}

void check_letters(const FailureEvidence& evidence, const KnownFaults& faults, std::vector<std::string>& problems) {
  for (const DeadLetter& letter : evidence.dead_letters()) {
    const auto tell = [&](const std::string& what) {
      problems.push_back("dead letter of " + letter.id + ", order " + std::to_string(letter.sequence) + ": " + what);
    };
    if (letter.reason != "failed" || letter.targets.empty()) {
      tell(letter.reason);
      continue;
    }
    for (const std::string& target : letter.targets) {
      if (!faults.fails({target, letter.id}, letter.sequence))
        tell("nothing is wrong with it for " + target + ", but: " + letter.error);
      const auto life = evidence.lives().find({target, letter.id, letter.sequence});
      if (life != evidence.lives().end() && life->second.released) tell("it was released for " + target);
    }
  }
}

void check_classes(const FailureEvidence& evidence, std::vector<std::string>& problems) {
  const auto& classes = evidence.classes();
  const auto none = [&](std::uint64_t count, const char* what) {
    if (count > 0) problems.push_back(std::to_string(count) + what);
  };
  none(counts_of(classes, FailureClass::kPermanent).tried_again, " files that cannot be read were tried again");
  none(counts_of(classes, FailureClass::kTransient).given_up, " orders were given up because of a lock");
  for (const FailureClass universal : {FailureClass::kUniversalTransient, FailureClass::kUniversalPermanent})
    none(counts_of(classes, universal).given_up, " orders were given up because the search engine was away");
  none(evidence.retries_lost_while_down(), " retries were lost while it was known that search is down");
}

nlohmann::ordered_json outage_json(const OutageCounts& outage) {
  return {{"seconds", outage.seconds},
          {"partitions", outage.partitions},
          {"tried", outage.tried},
          {"waited", outage.waited},
          {"released_later", outage.released_later},
          {"given_up", outage.given_up},
          {"superseded", outage.superseded},
          {"lost", outage.lost},
          {"released", outage.released},
          {"released_others", outage.released_others}};
}

nlohmann::ordered_json classes_json(const FailureNumbers& numbers) {
  nlohmann::ordered_json classes = nlohmann::json::object();
  for (const ClassName& name : kClassNames) {
    const ClassCounts counts = counts_of(numbers.classes, name.what);
    classes[name.key] = {
        {"said", counts.said},         {"tried_again", counts.tried_again}, {"waited", counts.waited},
        {"given_up", counts.given_up}, {"not_counted", counts.not_counted}, {"documents", counts.documents.size()}};
  }
  return classes;
}

std::string classes_text(const FailureNumbers& numbers) {
  const auto line = [](const char* label, const std::array<std::string, 5>& cells) {
    char text[200];
    std::snprintf(text, sizeof text, "  %-34s %-6s %-12s %-8s %-9s %s\n", label, cells[0].c_str(), cells[1].c_str(),
                  cells[2].c_str(), cells[3].c_str(), cells[4].c_str());
    return std::string(text);
  };
  std::string text = line("workers said that work failed", {"times", "tried again", "waited", "given up", "documents"});
  for (const ClassName& name : kClassNames) {
    const ClassCounts counts = counts_of(numbers.classes, name.what);
    text += line((std::string("  ") + name.label).c_str(),
                 {number(counts.said), number(counts.tried_again), number(counts.waited), number(counts.given_up),
                  number(counts.documents.size())});
  }
  return text;
}

std::string tries_text(const FailureNumbers& numbers) {
  std::array<std::uint64_t, kManyTries> counts{};
  for (const auto& [tries, orders] : numbers.tries)
    if (tries > 0) counts[std::min(tries, kManyTries) - 1] += orders;
  std::string value = number(counts[0]) + " once, " + number(counts[1]) + " twice, " + number(counts[2]) +
                      " three times, " + number(counts[3]) + " more often";
  return row("came to work for a target", value) +
         row("  retries of one, at most", number(numbers.most_retries) + " of " + number(numbers.retries_max));
}

std::string outage_text(const std::string& label, const OutageCounts& outage) {
  return row(label, fixed(outage.seconds, 1) + " s, in " + number(outage.partitions) + " partitions") +
         row("  meanwhile released",
             number(outage.released_others) + " for catalogue, " + number(outage.released) + " for search") +
         row("  meanwhile tried it", number(outage.tried)) +
         row("  waited for it", number(outage.waited) + ": later " + number(outage.released_later) + " released, " +
                                    number(outage.superseded) + " superseded, " + number(outage.given_up) +
                                    " given up");
}

std::string failed_text(const FailureNumbers& numbers) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kFailedShown, numbers.failed.size()); ++i) {
    const FailedDocument& failed = numbers.failed[i];
    text += "    " + failed.document.target + ": " + failed.document.id + ", attempt " + number(failed.attempt) + ": " +
            failed.error + "\n";
  }
  if (numbers.failed.size() > kFailedShown)
    text += "    and " + number(numbers.failed.size() - kFailedShown) + " more, in report.json\n";
  return text;
}

}  // namespace

std::vector<std::string> problems_of(const FailureEvidence& evidence, const KnownFaults& faults,
                                     std::uint64_t retries_max) {
  std::vector<std::string> problems;
  check_lives(evidence, retries_max, problems);
  check_letters(evidence, faults, problems);
  check_classes(evidence, problems);
  return problems;
}

std::vector<std::string> problems_of(const FailureNumbers& numbers, const std::set<TargetDocument>& failing,
                                     const FailureEvidence& evidence) {
  std::vector<std::string> problems;
  const auto name = [](const TargetDocument& one) { return one.target + ": " + one.id; };
  std::set<TargetDocument> failed;
  for (const FailedDocument& one : numbers.failed) {
    failed.insert(one.document);
    const bool letter =
        std::any_of(evidence.dead_letters().begin(), evidence.dead_letters().end(), [&](const DeadLetter& dead) {
          return dead.id == one.document.id && dead.sequence == one.sequence && dead.error == one.error &&
                 std::find(dead.targets.begin(), dead.targets.end(), one.document.target) != dead.targets.end();
        });
    if (!letter) problems.push_back(name(one.document) + " is failed, and has no dead letter that says why");
    if (one.error.empty()) problems.push_back(name(one.document) + " is failed, and nobody says why");
    if (!failing.contains(one.document)) problems.push_back(name(one.document) + " is failed: " + one.error);
  }
  for (const TargetDocument& one : failing)
    if (!failed.contains(one)) problems.push_back(name(one) + " cannot be done, and is not failed");
  for (const auto& target : numbers.targets) {
    for (const auto* paths : {&target.with.differing_paths, &target.with.missing_paths})
      for (const std::string& path : *paths)
        if (!failing.contains({target.name, path}))
          problems.push_back(target.name + ": " + path + " is not what the commit has, and has not failed");
    if (target.with.resurrected > 0)
      problems.push_back(target.name + ": " + number(target.with.resurrected) + " documents are resurrected");
  }
  return problems;
}

std::vector<std::string> failures(const FailureNumbers& numbers) {
  std::vector<std::string> failures = numbers.problems;
  if (numbers.skipped > 0) failures.push_back(number(numbers.skipped) + " changes could not be sent");
  if (numbers.leases_lost == 0) failures.emplace_back("nobody lost a lease, so no worker died over its work");
  if (numbers.down.partitions == 0) failures.emplace_back("search was never taken to be down");
  for (const OutageCounts* outage : {&numbers.down, &numbers.no_index})
    if (outage->lost > 0) failures.push_back(number(outage->lost) + " orders that waited for search never came back");
  if (numbers.no_index.partitions == 0) failures.emplace_back("no operator was needed for the index");
  return failures;
}

std::string table_text(const FailureNumbers& numbers) {
  std::string text = "\n" + row("requests", number(numbers.requests));
  text += row("  superseded before work", number(numbers.superseded_before_work));
  text += row("seconds", fixed(numbers.seconds, 1));
  text += row("workers killed, stood still", number(numbers.killed) + ", " + number(numbers.stood_still));
  text += row("documents given back by leases", number(numbers.leases_lost));
  text += classes_text(numbers) + tries_text(numbers);
  text += outage_text("search was down", numbers.down);
  text += outage_text("search had no index", numbers.no_index);
  text += row("dead letters",
              number(numbers.dead_letters) + ", " + number(numbers.cleared) + " of them of what is newer by now");
  for (const auto& target : numbers.targets)
    text += row("target " + target.name, number(target.with.equal) + " of " + number(target.with.expected) +
                                             " right, " + number(target.failed) + " failed (" +
                                             number(target.older_version) + " hold an older version)");
  return text + failed_text(numbers);
}

std::string report_json(const FailureNumbers& numbers, const std::vector<std::string>& failures) {
  nlohmann::ordered_json targets = nlohmann::json::object(), tries = nlohmann::json::object();
  for (const auto& target : numbers.targets)
    targets[target.name] = {{"documents", target.with.expected},
                            {"equal", target.with.equal},
                            {"failed", target.failed},
                            {"older_version", target.older_version},
                            {"resurrected", target.with.resurrected}};
  for (const auto& [count, orders] : numbers.tries) tries[std::to_string(count)] = orders;
  nlohmann::ordered_json failed = nlohmann::json::array();
  for (const FailedDocument& one : numbers.failed)
    failed.push_back({{"target", one.document.target},
                      {"id", one.document.id},
                      {"sequence", one.sequence},
                      {"attempt", one.attempt},
                      {"error", one.error}});
  const nlohmann::ordered_json report = {{"ok", failures.empty()},
                                         {"failures", failures},
                                         {"commit", numbers.commit},
                                         {"requests", numbers.requests},
                                         {"skipped", numbers.skipped},
                                         {"superseded_before_work", numbers.superseded_before_work},
                                         {"seconds", numbers.seconds},
                                         {"killed", numbers.killed},
                                         {"stood_still", numbers.stood_still},
                                         {"leases_lost", numbers.leases_lost},
                                         {"retries_max", numbers.retries_max},
                                         {"most_retries", numbers.most_retries},
                                         {"said", classes_json(numbers)},
                                         {"tries", tries},
                                         {"down", outage_json(numbers.down)},
                                         {"no_index", outage_json(numbers.no_index)},
                                         {"dead_letters", numbers.dead_letters},
                                         {"cleared", numbers.cleared},
                                         {"targets", targets},
                                         {"failed", failed}};
  return report_text(report);
}

}  // namespace reseq::demo
