#include "tests/e2e/fleet.h"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <tuple>

namespace reseq::test {

namespace {

constexpr int kKillLimitMs = 10'000;
constexpr int kStopLimitMs = 30'000;

std::int64_t number(std::string_view line, std::string_view name) {
  const auto value = field(line, name);
  return value ? std::stoll(*value) : 0;
}

}  // namespace

std::optional<std::string> field(std::string_view line, std::string_view name) {
  const std::string start = " " + std::string(name) + "=";
  const std::size_t at = line.find(start);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + start.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

Fleet::Fleet(ResequencerRun& run, int instances) : run_(run), members_(static_cast<std::size_t>(instances)) {
  for (int instance = 1; instance <= instances; ++instance) start(instance);
}

void Fleet::start(int instance) {
  Member& one = member(instance);
  one.process = run_.start(instance);
  ++one.starts;
}

void Fleet::kill(int instance) {
  process(instance).signal(SIGKILL);
  (void)process(instance).wait(kKillLimitMs);
  look();
  forget_owner(instance);
}

int Fleet::stop(int instance) {
  process(instance).signal(SIGTERM);
  const int code = process(instance).wait(kStopLimitMs);
  look();
  forget_owner(instance);
  return code;
}

// Lines of all logs in the order of their times: what one process lost, another has got since.
void Fleet::look() {
  std::vector<std::tuple<std::string, int, std::string>> lines;
  for (int instance = 1; instance <= size(); ++instance) {
    Member& one = member(instance);
    std::ifstream file(run_.log_file(instance), std::ios::binary);
    file.seekg(static_cast<std::streamoff>(one.read));
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::size_t begin = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
      const std::string line = text.substr(begin, end - begin);
      if (field(line, "level")) one.time = line.substr(0, line.find(' '));
      lines.emplace_back(one.time, instance, line);
      begin = end + 1;
    }
    one.read += begin;  // a line that is still being written is read next time
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
  for (const auto& [time, instance, line] : lines) read_line(instance, line);
}

void Fleet::read_line(int instance, const std::string& line) {
  if (line.find(" level=error ") != std::string::npos || line.find("assertion") != std::string::npos)
    complaints_.push_back("instance " + std::to_string(instance) + ": " + line);
  if (field(line, "group") == "revoked") forget_owner(instance);
  if (const auto ended = field(line, "transaction")) ++transactions_ended_[*ended];
  if (!field(line, "partition")) return;
  const int partition = static_cast<int>(number(line, "partition"));
  if (field(line, "checkpoint") == "written") ++checkpoints_[partition];
  const auto takeover = field(line, "takeover");
  if (takeover == "ready" || takeover == "born") read_takeover(instance, line, partition);
}

void Fleet::read_takeover(int instance, const std::string& line, int partition) {
  Takeover one;
  one.instance = instance;
  one.partition = partition;
  one.born = field(line, "takeover") == "born";
  one.recovery = field(line, "recovery").value_or("");
  one.reason = field(line, "reason").value_or("");
  one.generation = static_cast<std::uint64_t>(number(line, "generation"));
  one.records_read = static_cast<std::uint64_t>(number(line, "records_read"));
  one.duration_ms = number(line, "ms");
  if (const auto last = last_owner_.find(partition); last != last_owner_.end()) one.before = last->second;
  one.start = member(instance).starts;
  takeovers_.push_back(one);
  owner_[partition] = instance;
  last_owner_[partition] = instance;
}

void Fleet::forget_owner(int instance) {
  std::erase_if(owner_, [&](const auto& entry) { return entry.second == instance; });
}

std::optional<int> Fleet::owner(int partition) const {
  const auto found = owner_.find(partition);
  if (found == owner_.end()) return std::nullopt;
  return found->second;
}

bool Fleet::settled(int partitions) const {
  for (int instance = 1; instance <= size(); ++instance)
    if (partitions_of(instance).empty()) return false;
  return owner_.size() == static_cast<std::size_t>(partitions);
}

std::vector<int> Fleet::partitions_of(int instance) const {
  std::vector<int> found;
  for (const auto& [partition, owner] : owner_)
    if (owner == instance) found.push_back(partition);
  return found;
}

std::uint64_t Fleet::checkpoints(int partition) const {
  const auto found = checkpoints_.find(partition);
  return found == checkpoints_.end() ? 0 : found->second;
}

}  // namespace reseq::test
