#include "demo/pipeline/faults.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "producers/load/random.h"

namespace reseq::demo {
namespace {

// Of a hundred.
constexpr std::uint64_t kThrowing = 2;
constexpr std::uint64_t kLocked = 6;
constexpr std::uint64_t kLongestLock = 2;  // attempts
// Of a thousand.
constexpr std::uint64_t kLost = 4;

// Another draw than that of the treatment.
load::Random draws(Seed seed, std::string_view what, std::string_view target, std::string_view id) {
  return load::Random(mix(mix(mix(kHashBasis ^ seed.value(), what), target), id));
}

// "[json.exception.parse_error.101] parse error at line 3, column 3: syntax error while ..." without its ends.
std::string parse_error(std::string_view content) {
  try {
    [[maybe_unused]] const auto document = nlohmann::json::parse(content);
  } catch (const nlohmann::json::exception& error) {
    std::string_view text = error.what();
    if (const std::size_t begin = text.find("] "); begin != std::string_view::npos) text.remove_prefix(begin + 2);
    return std::string(text.substr(0, text.find(':')));
  }
  return {};
}

std::optional<stage::WorkFailure> fault_of_engine(SearchEngine engine) {
  if (engine == SearchEngine::kDown)
    return stage::WorkFailure{FailureKind::kTransient, FailureScope::kUniversal, "connection refused"};
  if (engine == SearchEngine::kNoIndex)
    return stage::WorkFailure{FailureKind::kPermanent, FailureScope::kUniversal, "there is no index"};
  return std::nullopt;
}

}  // namespace

std::string_view name_of(SearchEngine engine) {
  switch (engine) {
    case SearchEngine::kUp:
      return "up";
    case SearchEngine::kDown:
      return "down";
    case SearchEngine::kNoIndex:
      return "no-index";
  }
  return {};
}

SearchEngine search_engine(const std::string& file) {
  std::string word;
  std::ifstream(file) >> word;
  for (const SearchEngine engine : {SearchEngine::kUp, SearchEngine::kNoIndex})
    if (word == name_of(engine)) return engine;
  return SearchEngine::kDown;
}

std::optional<std::string> unreadable(std::string_view target, std::string_view path, std::string_view content) {
  if (path.ends_with(".json") && !nlohmann::json::accept(content)) return "no JSON: " + parse_error(content);
  if (target == kEngineTarget && content.find('\0') != std::string_view::npos) return "no text: it has a NUL byte";
  return std::nullopt;
}

bool throws(Seed seed, std::string_view target, std::string_view id) {
  return draws(seed, "throws", target, id).below(100) < kThrowing;
}

std::uint32_t locked_attempts(Seed seed, std::string_view target, std::string_view id, std::string_view sequence) {
  load::Random random = draws(Seed(mix(kHashBasis ^ seed.value(), sequence)), "locked", target, id);
  if (random.below(100) >= kLocked) return 0;
  return static_cast<std::uint32_t>(1 + random.below(kLongestLock));
}

bool loses(Seed seed, std::string_view target, std::string_view id, std::string_view sequence) {
  return draws(Seed(mix(kHashBasis ^ seed.value(), sequence)), "lost", target, id).below(1'000) < kLost;
}

bool Faults::lost(std::string_view target, std::string_view id, std::string_view sequence) const {
  return std::find(losing_.begin(), losing_.end(), target) != losing_.end() && loses(seed_, target, id, sequence);
}

std::optional<stage::WorkFailure> Faults::of(const Task& task) const {
  if (engine_file_.empty()) return std::nullopt;
  if (task.payload)
    if (auto why = unreadable(task.target, task.id, *task.payload))
      return stage::WorkFailure{FailureKind::kPermanent, FailureScope::kDocument, std::move(*why)};
  if (task.target == kEngineTarget)
    if (auto fault = fault_of_engine(search_engine(engine_file_))) return fault;
  if (!task.payload) return std::nullopt;
  if (throws(seed_, task.target, task.id))
    return stage::WorkFailure{FailureKind::kUnknown, FailureScope::kDocument, "exception: index 7 is out of range"};
  if (task.attempt <= locked_attempts(seed_, task.target, task.id, task.sequence))
    return stage::WorkFailure{FailureKind::kTransient, FailureScope::kDocument, "the document is locked"};
  return std::nullopt;
}

}  // namespace reseq::demo
