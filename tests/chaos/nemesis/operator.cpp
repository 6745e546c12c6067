#include "tests/chaos/nemesis/operator.h"

#include <utility>

namespace reseq::chaos {

namespace {

constexpr std::chrono::seconds kRest{1};
constexpr const char* kTimeoutMs = "10000";

}  // namespace

Operator::Operator(const Site& site, Chronicle& chronicle) : site_(site), chronicle_(chronicle) {}

void Operator::attempt(std::vector<std::string> words, Then then) {
  commands_.push_back({std::move(words), std::move(then), false});
}

void Operator::insist(std::vector<std::string> words, Then then) {
  commands_.push_back({std::move(words), std::move(then), true});
}

void Operator::step() {
  if (commands_.empty()) return;
  if (!running_) {
    if (Clock::now() >= next_) start();
  } else if (!running_->running()) {
    end();
  }
}

void Operator::start() {
  std::vector<std::string> argv = {test::program("resequencer")};
  argv.insert(argv.end(), commands_.front().words.begin(), commands_.front().words.end());
  argv.insert(argv.end(), {"--timeout-ms", kTimeoutMs, "--config", site_.config_file("r1")});
  printed_ = std::make_unique<test::TempDir>();
  running_ = std::make_unique<test::Process>(argv, printed_->path() + "/printed");
}

void Operator::end() {
  const Command command = std::move(commands_.front());
  commands_.pop_front();
  const int code = running_->wait(0);
  const std::string printed = running_->tail(std::string::npos);
  running_.reset();
  next_ = Clock::now() + kRest;
  std::string line = "operator";
  for (const std::string& word : command.words) line += " " + word;
  chronicle_.note(line + " code=" + std::to_string(code));
  if (code == 0 && command.then) command.then(printed);
  if (code != 0 && command.insists) commands_.push_front(command);
}

}  // namespace reseq::chaos
