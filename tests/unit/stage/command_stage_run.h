// A stage whose work is done by real commands, over a log in memory: what the tests of CommandStage share.
// Thread rule: one thread.
#pragma once

#include <csignal>
#include <deque>
#include <gtest/gtest.h>
#include <utility>

#include "consumers/command/command_stage.h"
#include "tests/support/process.h"

namespace reseq::command {

inline constexpr Partition kP0{0};

struct World {
  std::deque<stage::WorkRecord> work;
  std::size_t payload_bytes_max = SIZE_MAX;  // a larger result can never be sent
  std::vector<std::string> sent;             // target=payload
  std::vector<std::string> failures;         // target: kind scope[, effect none]: error
  std::vector<stage::Ticket> acknowledged;
  Offset committed = kNoOffset;
  bool assigned = false;
};

class ReaderInMemory : public stage::WorkReader {
 public:
  explicit ReaderInMemory(World& world) : world_(world) {}
  void listen(stage::AssignmentListener& listener) override { listener_ = &listener; }
  Result<std::optional<stage::WorkRecord>> poll(Milliseconds) override {
    if (!std::exchange(world_.assigned, true)) listener_->on_assigned(std::vector<Partition>{kP0});
    if (world_.work.empty()) return std::optional<stage::WorkRecord>();
    std::optional<stage::WorkRecord> next = std::move(world_.work.front());
    world_.work.pop_front();
    return next;
  }
  [[nodiscard]] std::vector<stage::NextOffset> positions() const override { return {}; }
  Result<> commit(std::span<const stage::NextOffset> offsets) override {
    world_.committed = offsets.front().next;
    return Done{};
  }
  void close() override {}

 private:
  World& world_;
  stage::AssignmentListener* listener_ = nullptr;
};

class SenderInMemory : public stage::ResultSender {
 public:
  explicit SenderInMemory(World& world) : world_(world) {}
  Result<> send(const stage::Ticket& ticket, std::optional<std::string_view>, std::optional<std::string_view> payload,
                std::span<const stage::OwnedHeader> headers) override {
    if (payload && payload->size() > world_.payload_bytes_max)
      return Error{.what_to_do = ErrorClass::kInvalid, .message = "too large"};
    const auto header = [&](std::string_view name) {
      const auto found = stage::last_header(headers, name);
      return found ? found->value_or("(null)") : "(none)";
    };
    world_.acknowledged.push_back(ticket);
    if (header("reseq-command") == "fail") {
      world_.failures.push_back(header("reseq-target") + ": " + header("reseq-failure") + " " +
                                header("reseq-failure-scope") +
                                (header("reseq-effect") == "(none)" ? "" : ", effect " + header("reseq-effect")) +
                                ": " + header("reseq-error"));
      return Done{};
    }
    const std::string command = header("reseq-command") == "sequence" ? "" : header("reseq-command") + " ";
    const std::string target = header("reseq-command") == "register" ? "reseq-targets" : "reseq-target";
    world_.sent.push_back(command + header(target) + "=" + std::string(payload.value_or("(null)")));
    return Done{};
  }
  Result<std::vector<stage::Ticket>> acknowledged(Milliseconds) override {
    return std::exchange(world_.acknowledged, {});
  }
  [[nodiscard]] std::size_t held() const override { return 0; }
  [[nodiscard]] bool holds(const stage::Ticket&) const override { return false; }

 private:
  World& world_;
};

class CommandStageTest : public testing::Test {
 protected:
  // As the program does: a command that has ended is seen at the write.
  static void SetUpTestSuite() { std::signal(SIGPIPE, SIG_IGN); }
  void write_work(const std::string& payload, const std::string& targets = "search,catalogue") {
    const auto offset = static_cast<std::int64_t>(written_++);
    world_.work.push_back({kP0, Offset(offset), "id-" + std::to_string(offset), payload, {{"reseq-targets", targets}}});
  }
  // With a lease that goes on for so long; nobody renews it.
  void write_leased(const std::string& payload, std::int64_t ms) {
    write_work(payload, "search");
    const std::int64_t now = stage::wall_clock().value();
    world_.work.back().headers.push_back({"reseq-lease-until", std::to_string(now + ms)});
    world_.work.back().timestamp = UnixMs(now);
  }
  // Runs until everything written was committed, or an error; then in order to the end.
  Result<> run(std::vector<std::string> command, CommandOptions options = {}) {
    options.command = std::move(command);
    std::atomic<bool> stop = false;
    CommandStage stage(stage_, options, [&](const std::string& line) {
      reports_.push_back(line);
      stop = stop_at_report_;
      if (at_report_) std::exchange(at_report_, {})();
    });
    watch_ = [&] { stop = stop || world_.committed == Offset(static_cast<std::int64_t>(written_)); };
    Result<> ran = stage.run(stop);
    counts_ = stage.counts();
    return ran;
  }

  // Looks after the world whenever the stage asks for acknowledgements.
  class Sender : public SenderInMemory {
   public:
    explicit Sender(CommandStageTest& test) : SenderInMemory(test.world_), test_(test) {}
    Result<std::vector<stage::Ticket>> acknowledged(Milliseconds limit) override {
      if (test_.watch_) test_.watch_();
      return SenderInMemory::acknowledged(limit);
    }

   private:
    CommandStageTest& test_;
  };

  test::TempDir folder_;
  World world_;
  std::size_t written_ = 0;
  bool stop_at_report_ = false;
  std::function<void()> watch_;
  std::function<void()> at_report_;
  std::vector<std::string> reports_;
  CommandCounts counts_;
  stage::Stage stage_{std::make_unique<ReaderInMemory>(world_),
                      std::make_unique<Sender>(*this),
                      {.in_flight_max = 5'000, .commit_interval = std::chrono::milliseconds(0)}};
};

}  // namespace reseq::command
