// CommandStage: a stage whose work is done by commands. Each record of `work` goes as one line of JSON to one of them,
// the lines that they answer become results (consumers/lines).
// Invariants: a record is finished only by a line with its ticket, so what is not answered is never committed, unless
// it has a lease that gives it back; a command whose record lost its lease is ended before somebody else gets the
// document; nothing waits for a command without also reading what it writes.
// Thread rule: one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "consumers/command/command_process.h"
#include "consumers/lines/record_line.h"
#include "consumers/lines/result_line.h"
#include "consumers/stage/stage.h"

namespace reseq::command {

// What happens at a line that cannot be used.
//   kStop  The run ends. The record is not committed and comes again at the next start.
//   kSkip  It is reported, and its record is finished without this result: otherwise its partition would wait for
//          ever. When the line does not tell its ticket, nobody knows the record: that one stays open until the next
//          start.
enum class OnBadLine : unsigned char { kStop, kSkip };

struct CommandOptions {
  std::vector<std::string> command = {};  // and its arguments
  std::size_t copies = 1;
  // That the commands answer for; of the records without a list of their own, all of them. Empty: all that the record
  // names, which it then has to.
  std::vector<std::string> targets = {};
  lines::PayloadForm payload_form = lines::PayloadForm::kAuto;
  OnBadLine on_bad_line = OnBadLine::kStop;
  // A command that has not answered anything for this long is reported, once.
  std::chrono::milliseconds silence{30'000};
  // A command that has not answered anything for so long is ended, and what it was given is given up. 0 = never.
  std::chrono::milliseconds answer_within{0};
  // How long a command may take for what it was given when everything ends, and to end after it closed a pipe.
  std::chrono::milliseconds end_limit{30'000};
};

struct CommandCounts {
  std::uint64_t records = 0;  // given to a command
  std::uint64_t results = 0;
  std::uint64_t bad_lines = 0;
  std::uint64_t unanswered = 0;  // at the end
  std::uint64_t given_up = 0;    // because the lease was lost, or with a command that was ended
};

class CommandStage {
 public:
  using Report = std::function<void(const std::string&)>;

  // REQUIRES: the stage outlives it. `report` is told what a person should know, one line each.
  CommandStage(stage::Stage& stage, CommandOptions options, Report report)
      : stage_(stage), options_(std::move(options)), report_(std::move(report)) {}

  // Starts the commands and works until `stop`; then gives nothing more, takes the answers that are on their way and
  // commits them. kInvalid: a command cannot be started, ended, or has answered a line that cannot be used; a record
  // does not say for which targets it is, nor do the options.
  Result<> run(const std::atomic<bool>& stop);

  [[nodiscard]] const CommandCounts& counts() const { return counts_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Copy {
    std::unique_ptr<CommandProcess> process;
    std::size_t unanswered = 0;
    Clock::time_point spoke_at;
    bool reported = false;
    std::optional<Clock::time_point> closed_at = {};  // when it was seen to have closed a pipe of its own accord
    bool cut_off = false;                             // its last line has no end and cannot be read
    std::optional<Clock::time_point> kill_at = {};    // it was told to end, and is killed then
  };
  struct Given {
    stage::Work work;
    std::vector<std::string> targets;
    std::size_t copy;
  };
  using GivenByTicket = std::map<std::string, Given, std::less<>>;

  Result<> start();
  Result<> work(const std::atomic<bool>& stop);
  Result<> finish();
  // Gives what there is and what fits. True: there may be more.
  Result<bool> hand_out();
  Result<> give(stage::Work work);
  [[nodiscard]] Copy* least_busy();
  // Waits up to `limit` for a command to read or to write, and serves it.
  Result<> serve(std::chrono::milliseconds limit);
  Result<> take_lines(Copy& copy);
  Result<> take_line(Copy& copy, const LineBuffer::Line& line);
  // Of a line that could be read.
  Result<> take_answer(GivenByTicket::iterator given, const lines::ResultLine& answer, std::string_view text);
  Result<> send(const Given& given, const lines::ResultLine& line);
  // The record that a line is about; the end when that is not known.
  [[nodiscard]] GivenByTicket::iterator given_of(const Result<lines::ResultLine>& parsed, std::string_view text);
  void finish_record(GivenByTicket::iterator given);
  // `given`: its record, the end when that is not known. `more_comes`: further lines of that record do.
  Result<> bad_line(std::string_view text, const std::string& why, GivenByTicket::iterator given,
                    bool more_comes = false);
  // A command may end only after its input has.
  Result<> check_endings();
  Result<> check_ending(Copy& copy);
  Result<> wait_for_endings();
  void report_silence();
  // Ends commands whose work is not ours any more, or that hang, and starts others in their place.
  Result<> end_lost();
  void end_hanging();
  void end_copy(Copy& copy, std::chrono::milliseconds within);
  Result<> replace_when_ended(Copy& copy);
  // The lease gives it back. kInvalid: it has none.
  Result<> give_up(GivenByTicket::iterator given);
  // kInvalid: nothing says for which targets it is.
  [[nodiscard]] Result<std::vector<std::string>> targets_of(const stage::Work& work) const;

  stage::Stage& stage_;
  CommandOptions options_;
  Report report_;
  CommandCounts counts_;
  std::vector<Copy> copies_;
  GivenByTicket given_;
  bool finishing_ = false;
};

}  // namespace reseq::command
