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

#include "base/child.h"
#include "base/result.h"
#include "consumers/command/command_process.h"
#include "consumers/lines/record_line.h"
#include "consumers/lines/result_line.h"
#include "consumers/stage/stage.h"

namespace reseq::command {

// What happens at an answer that cannot be used, and when a command ends while it has work.
//   kStop  The run ends. The record is not committed and comes again at the next start.
//   kSkip  An answer is reported, and its record is finished without this result: otherwise its partition would wait
//          for ever. When the line does not tell its ticket, nobody knows the record: that one stays open until the
//          next start. A command that ends is as with kStop.
//   kFail  The failure of the record is sent to `commands`, and the run goes on, with another command where one has
//          ended or has not answered in time. A command has one record at a time then, so that it is known of which one
//          it died. One that ends before it has read or answered anything is as with kStop: no record is to blame.
enum class OnError : unsigned char { kStop, kSkip, kFail };

struct CommandOptions {
  std::vector<std::string> command = {};  // and its arguments
  std::size_t copies = 1;
  // That the commands answer for; of the records without a list of their own, all of them. Empty: all that the record
  // names, which it then has to.
  std::vector<std::string> targets = {};
  lines::PayloadForm payload_form = lines::PayloadForm::kAuto;
  OnError on_error = OnError::kStop;
  // A command that has not answered anything for this long is reported, once.
  std::chrono::milliseconds silence{30'000};
  // A command that has not answered anything for so long is ended, and what it was given is given up, or has failed.
  // 0 = never.
  std::chrono::milliseconds answer_within{0};
  // How long a command may take for what it was given when everything ends, and to end after it closed a pipe.
  std::chrono::milliseconds end_limit{30'000};
};

struct CommandCounts {
  std::uint64_t records = 0;  // given to a command
  std::uint64_t results = 0;
  std::uint64_t bad_lines = 0;   // that stopped the run, or were passed over
  std::uint64_t failed = 0;      // records
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
    std::string told_to_end = {};                     // why
    bool has_answered = false;                        // anything, since it was started
    std::string failed = {};                          // ticket whose further lines are not wanted any more
  };
  struct Given {
    stage::Work work;
    std::vector<std::string> targets;
    std::size_t copy;
    std::size_t bytes = 0;                     // of its line
    std::vector<std::string> registered = {};  // further targets
    bool answered = false;                     // for one of the targets
    bool left_out = false;                     // an answer, because it was for none of them
  };
  using GivenByTicket = std::map<std::string, Given, std::less<>>;

  Result<> start();
  Result<> work(const std::atomic<bool>& stop);
  Result<> finish();
  // Gives what there is and what fits. True: there may be more.
  Result<bool> hand_out();
  Result<> give(stage::Work work);
  // Writes the work line to the copy.
  void hand(Copy& copy, const std::string& ticket, Given& given);
  [[nodiscard]] Copy* least_busy();
  // Waits up to `limit` for a command to read or to write, and serves it.
  Result<> serve(std::chrono::milliseconds limit);
  Result<> take_lines(Copy& copy);
  Result<> take_line(Copy& copy, const LineBuffer::Line& line);
  // Of a line that could be read.
  Result<> take_answer(GivenByTicket::iterator given, const lines::ResultLine& answer, std::string_view text);
  // Work that is tried again names only the targets that are still to be done: what is for others is left out.
  [[nodiscard]] static std::vector<std::string> asked_for(const Given& given, const lines::ResultLine& answer);
  Result<> send(const Given& given, stage::StageResult result, const std::vector<std::string>& targets);
  void finish_record(GivenByTicket::iterator given);
  // `given`: its record, the end when that is not known. `more_comes`: further lines of that record do.
  Result<> bad_line(std::string_view text, const std::string& why, GivenByTicket::iterator given,
                    bool more_comes = false);
  // A command may end only after its input has.
  Result<> check_endings();
  Result<> check_ending(Copy& copy);
  Result<> wait_for_endings();
  Result<> check_last_ending(Copy& copy, const Ending& ending);
  void report_silence();
  // Ends commands whose work is not ours any more, or that hang, and starts others in their place.
  Result<> end_lost();
  void end_hanging();
  void end_copy(Copy& copy, std::chrono::milliseconds within, std::string why = {});
  Result<> replace_when_ended(Copy& copy);
  // Reads what one that has ended has still said.
  Result<> take_rest(Copy& copy);
  Result<> start_again(Copy& copy);

  // With kFail.
  [[nodiscard]] bool fails() const { return options_.on_error == OnError::kFail; }
  // The record that a copy has; the end when it has none.
  [[nodiscard]] GivenByTicket::iterator held_by(const Copy& copy);
  // A copy that has ended: what its record became, and another one in its place.
  Result<> go_on_behind(Copy& copy);
  Result<> send_failure(const Given& given, const stage::WorkFailure& failure);
  // REQUIRES: it is not finished yet.
  Result<> fail_record(GivenByTicket::iterator given, const stage::WorkFailure& failure);
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
