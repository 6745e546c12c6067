#include "consumers/command/command_stage.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <poll.h>
#include <string_view>
#include <thread>
#include <utility>

#include "base/log.h"
#include "consumers/command/ending.h"

namespace reseq::command {
namespace {

using std::chrono::milliseconds;

constexpr Milliseconds kIdleWait{100};
constexpr Milliseconds kAtOnce{0};
constexpr Milliseconds kDrainLimit{10'000};
constexpr milliseconds kBusyWait{5};
constexpr milliseconds kEndWait{20};
constexpr int kRecordsInARow = 200;
// Bytes that wait for one command to read them.
constexpr std::size_t kWaitingBytesMax = std::size_t{256} << 10;
constexpr std::size_t kShownBytes = 200;
// What a command that hangs gets between SIGTERM and SIGKILL.
constexpr milliseconds kHangingLimit{1'000};
constexpr const char* kClosedPipes = "the command does not read or write any more";
constexpr const char* kEndedInALine = "the command ended in the middle of a line";

Error invalid(std::string message) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::move(message)};
}

std::string ticket_text(const stage::Ticket& ticket) {
  return std::to_string(ticket.partition.value()) + "-" + std::to_string(ticket.offset.value()) + "-" +
         std::to_string(ticket.assignment.value());
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name;
  return list;
}

std::string shown(const stage::Work& work) {
  return "id " + log::outside(work.key.value_or("").substr(0, kShownBytes)) + ", offset " +
         std::to_string(work.ticket.offset.value()) + " of partition " + std::to_string(work.ticket.partition.value());
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<> CommandStage::run(const std::atomic<bool>& stop) {
  if (Result<> started = start(); !started) return started;
  Result<> worked = work(stop);
  if (worked) worked = finish();
  counts_.unanswered = given_.size();
  // Also after an error: what was answered before it is done.
  Result<> drained = stage_.drain(kDrainLimit);
  return worked ? drained : worked;
}

Result<> CommandStage::start() {
  copies_.resize(options_.copies);
  for (Copy& copy : copies_)
    if (Result<> started = start_again(copy); !started) return started;
  return Done{};
}

Result<> CommandStage::work(const std::atomic<bool>& stop) {
  while (!stop) {
    Result<bool> more = hand_out();
    if (!more) return more.error();
    if (Result<> served = serve(more.value() ? milliseconds(0) : kBusyWait); !served) return served;
    if (Result<> alive = check_endings(); !alive) return alive;
    end_hanging();
    if (Result<> ended = end_lost(); !ended) return ended;
    report_silence();
  }
  return Done{};
}

Result<bool> CommandStage::hand_out() {
  for (int i = 0; i < kRecordsInARow; ++i) {
    if (least_busy() == nullptr) {
      if (Result<> tended = stage_.tend(); !tended) return tended.error();
      return false;
    }
    Result<std::optional<stage::Work>> next = stage_.next(given_.empty() ? kIdleWait : kAtOnce);
    if (!next) return next.error();
    if (!next.value()) return false;
    if (Result<> given = give(std::move(*next.value())); !given) return given.error();
  }
  return true;
}

Result<> CommandStage::give(stage::Work work) {
  Result<std::vector<std::string>> targets = targets_of(work);
  if (!targets) return targets.error();
  if (targets.value().empty()) {  // nothing for these commands
    stage_.finish(work);
    return Done{};
  }
  Copy& copy = *least_busy();
  const auto place = static_cast<std::size_t>(&copy - copies_.data());
  const std::string ticket = ticket_text(work.ticket);
  const auto given =
      given_.emplace(ticket, Given{.work = std::move(work), .targets = std::move(targets).value(), .copy = place});
  if (copy.unanswered++ == 0) copy.spoke_at = Clock::now();
  ++counts_.records;
  hand(copy, ticket, given.first->second);
  return Done{};
}

void CommandStage::hand(Copy& copy, const std::string& ticket, Given& given) {
  const std::vector<Header> headers = stage::views_of(given.work.headers);
  const lines::RecordView record{.key = given.work.key, .payload = given.work.payload, .headers = headers};
  const std::string line = lines::work_line(ticket, record, given.targets, options_.payload_form);
  given.bytes = line.size();
  copy.process->forget_errors();  // those of the record before
  copy.process->give(line);
}

Result<std::vector<std::string>> CommandStage::targets_of(const stage::Work& work) const {
  std::vector<std::string> targets = stage::targets_of(work.headers);
  if (targets.empty()) {
    // With intake = "tap" `work` is what the producers wrote, and they may leave the targets to the routes.
    if (!options_.targets.empty()) return options_.targets;
    return invalid("a record of `work` has no reseq-targets (offset " + std::to_string(work.ticket.offset.value()) +
                   " of partition " + std::to_string(work.ticket.partition.value()) +
                   "): name the targets that the command answers for with --targets");
  }
  if (!options_.targets.empty())
    std::erase_if(targets, [&](const std::string& target) { return !contains(options_.targets, target); });
  return targets;
}

CommandStage::Copy* CommandStage::least_busy() {
  Copy* found = nullptr;
  for (Copy& copy : copies_) {
    if (copy.closed_at || copy.kill_at || copy.process->waiting_bytes() >= kWaitingBytesMax) continue;
    if (fails() && copy.unanswered > 0) continue;
    if (found == nullptr || copy.unanswered < found->unanswered) found = &copy;
  }
  return found;
}

Result<> CommandStage::serve(milliseconds limit) {
  constexpr std::size_t kEnds = 3;  // of a copy
  std::vector<pollfd> ends;
  for (const Copy& copy : copies_) {
    ends.push_back({.fd = copy.process->output(), .events = POLLIN, .revents = 0});
    const bool writes = copy.process->waiting_bytes() > 0;
    ends.push_back({.fd = writes ? copy.process->input() : -1, .events = POLLOUT, .revents = 0});
    ends.push_back({.fd = copy.process->errors(), .events = POLLIN, .revents = 0});
  }
  if (::poll(ends.data(), ends.size(), static_cast<int>(limit.count())) <= 0) return Done{};
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (ends[kEnds * i + 1].revents != 0) copies_[i].process->write_some();
    if (ends[kEnds * i + 2].revents != 0) copies_[i].process->read_errors();
    if (ends[kEnds * i].revents == 0) continue;
    copies_[i].process->read_some();
    if (Result<> taken = take_lines(copies_[i]); !taken) return taken;
  }
  return Done{};
}

Result<> CommandStage::take_lines(Copy& copy) {
  while (const auto line = copy.process->next_line())
    if (Result<> taken = take_line(copy, *line); !taken) return taken;
  return Done{};
}

Result<> CommandStage::take_line(Copy& copy, const LineBuffer::Line& line) {
  copy.spoke_at = Clock::now();
  const Result<lines::ResultLine> parsed =
      line.too_long ? invalid("longer than " + std::to_string(LineBuffer::kLineBytesMax) + " bytes")
                    : lines::parse_result_line(line.text);
  const std::optional<std::string> ticket = parsed ? parsed.value().ticket : lines::ticket_of(line.text);
  auto given = ticket ? given_.find(*ticket) : given_.end();
  const bool is_known = given != given_.end();
  if (parsed && is_known) return take_answer(given, parsed.value(), line.text);
  if (!is_known && (copy.kill_at || (ticket && *ticket == copy.failed))) return Done{};  // it is not wanted any more
  if (!parsed && !line.ended) {  // that it ended is what is wrong
    copy.cut_off = true;
    return Done{};
  }
  if (!is_known && fails()) given = held_by(copy);
  return bad_line(line.text, parsed ? "no record with this ticket waits for an answer" : parsed.error().message, given);
}

Result<> CommandStage::take_answer(GivenByTicket::iterator given, const lines::ResultLine& answer,
                                   std::string_view text) {
  Given& record = given->second;
  if (answer.answer) {
    const std::vector<std::string> targets = asked_for(record, answer);
    (targets.empty() ? record.left_out : record.answered) = true;
    stage::StageResult result{.answer = *answer.answer,
                              .op = answer.op,
                              .payload = answer.payload,
                              .headers = answer.headers,
                              .failure = answer.failure};
    const bool registers = result.answer == stage::Answer::kRegister;
    const bool all_fail = result.answer == stage::Answer::kFail && answer.targets.empty();
    Result<> sent = all_fail ? send_failure(record, answer.failure)
                             : send(record, std::move(result), registers ? std::vector{joined(targets)} : targets);
    if (!sent && sent.error().what_to_do != ErrorClass::kInvalid) return sent;
    if (!sent) return bad_line(text, sent.error().message, given, !answer.done);
    if (registers) record.registered.insert(record.registered.end(), targets.begin(), targets.end());
    if (answer.answer == stage::Answer::kFail) ++counts_.failed;
  }
  if (!answer.done) return Done{};
  if (record.left_out && !record.answered) return bad_line(text, "the work line names none of these targets", given);
  finish_record(given);
  return Done{};
}

std::vector<std::string> CommandStage::asked_for(const Given& given, const lines::ResultLine& answer) {
  if (answer.targets.empty()) return given.targets;
  std::vector<std::string> targets = answer.targets;
  if (answer.answer != stage::Answer::kRegister)
    std::erase_if(targets, [&](const std::string& target) {
      return !contains(given.targets, target) && !contains(given.registered, target);
    });
  return targets;
}

void CommandStage::finish_record(GivenByTicket::iterator given) {
  stage_.finish(given->second.work);
  Copy& copy = copies_[given->second.copy];
  --copy.unanswered;
  copy.has_answered = true;
  given_.erase(given);
}

Result<> CommandStage::send(const Given& given, stage::StageResult result, const std::vector<std::string>& targets) {
  for (const std::string& target : targets) {
    result.target = target;
    ++counts_.results;
    if (Result<> sent = stage_.send(given.work, result); !sent) return sent;
  }
  return Done{};
}

Result<> CommandStage::bad_line(std::string_view text, const std::string& why, GivenByTicket::iterator given,
                                bool more_comes) {
  const std::string message =
      "the command answered a line that cannot be used: " + why + ": " + log::outside(text.substr(0, kShownBytes));
  if (!fails()) ++counts_.bad_lines;
  if (options_.on_error == OnError::kStop) return invalid(message);
  if (given == given_.end()) {
    report_(message);
    return Done{};
  }
  if (fails()) {
    if (Result<> said = fail_record(given, {.error = message}); !said) return said;
    copies_[given->second.copy].failed = given->first;
  } else {
    report_(message + "; passed over, of " + shown(given->second.work));
  }
  if (!more_comes) finish_record(given);
  return Done{};
}

CommandStage::GivenByTicket::iterator CommandStage::held_by(const Copy& copy) {
  const auto place = static_cast<std::size_t>(&copy - copies_.data());
  return std::find_if(given_.begin(), given_.end(), [&](const auto& given) { return given.second.copy == place; });
}

Result<> CommandStage::send_failure(const Given& given, const stage::WorkFailure& failure) {
  // `*` is for all targets, and these commands may answer for some of them only.
  const bool for_all = stage::targets_of(given.work.headers).size() == given.targets.size();
  return send(given, {.answer = stage::Answer::kFail, .failure = failure},
              for_all ? std::vector<std::string>{"*"} : given.targets);
}

Result<> CommandStage::fail_record(GivenByTicket::iterator given, const stage::WorkFailure& failure) {
  report_(shown(given->second.work) + " has failed: " + failure.error);
  ++counts_.failed;
  return send_failure(given->second, failure);
}

Result<> CommandStage::check_endings() {
  for (Copy& copy : copies_)
    if (Result<> alive = fails() ? go_on_behind(copy) : check_ending(copy); !alive) return alive;
  return Done{};
}

Result<> CommandStage::check_ending(Copy& copy) {
  if (copy.kill_at) return Done{};
  if (!copy.process->output_ended() && !copy.process->input_refused()) return Done{};
  if (!copy.closed_at) copy.closed_at = Clock::now();
  const std::optional<Ending> ending = copy.process->ending();
  if (!ending && Clock::now() - *copy.closed_at < options_.end_limit) return Done{};
  if (!ending) return invalid(kClosedPipes);
  // Whatever it has still said comes first.
  if (Result<> taken = take_rest(copy); !taken) return taken;
  if (!ending->good()) return invalid("the command " + in_words(*ending));
  return invalid(copy.cut_off ? kEndedInALine : "the command ended while there was work to do");
}

Result<> CommandStage::go_on_behind(Copy& copy) {
  if (copy.kill_at) return Done{};
  const std::optional<Ending> ending = copy.process->ending();
  if (!ending) {
    if (!copy.process->output_ended() && !copy.process->input_refused()) return Done{};
    if (!copy.closed_at) copy.closed_at = Clock::now();
    if (Clock::now() - *copy.closed_at >= options_.end_limit) end_copy(copy, kHangingLimit, kClosedPipes);
    return Done{};
  }
  if (Result<> taken = take_rest(copy); !taken) return taken;
  const auto given = held_by(copy);
  const bool has_read = given != given_.end() && copy.process->unread_bytes() < given->second.bytes;
  if (!has_read && !copy.has_answered)
    return invalid("the command " + in_words(*ending) + " before it had read anything");
  if (has_read) {
    if (Result<> said = fail_record(given, failure_of(*ending, copy.process->last_error())); !said) return said;
    finish_record(given);
    return start_again(copy);
  }
  if (!ending->good()) report_("the command " + in_words(*ending) + " behind its answer; another one is started");
  if (Result<> started = start_again(copy); !started) return started;
  if (given == given_.end()) return Done{};
  ++copy.unanswered;
  hand(copy, given->first, given->second);
  return Done{};
}

// The commands get no more work. They end by themselves when they have read everything.
Result<> CommandStage::finish() {
  finishing_ = true;
  for (Copy& copy : copies_) copy.process->finish_input();
  const auto reads = [](const Copy& copy) { return !copy.process->output_ended(); };
  const Clock::time_point until = Clock::now() + options_.end_limit;
  while (std::any_of(copies_.begin(), copies_.end(), reads) && Clock::now() < until) {
    if (Result<> served = serve(kEndWait); !served) return served;
    if (Result<> ended = end_lost(); !ended) return ended;
    for (Copy& copy : copies_) copy.process->finish_input();
  }
  return wait_for_endings();
}

Result<> CommandStage::wait_for_endings() {
  for (Copy& copy : copies_) {
    if (copy.kill_at) continue;
    const Clock::time_point until = Clock::now() + std::chrono::seconds(2);
    std::optional<Ending> ending;
    while (!(ending = copy.process->ending()) && Clock::now() < until) std::this_thread::sleep_for(kBusyWait);
    if (!ending) return invalid("the command did not end when its input did");
    if (Result<> good = check_last_ending(copy, *ending); !good) return good;
  }
  return Done{};
}

// What was not answered comes again. Only an exit code says that the record could not be done: a signal may be meant
// for all that runs here.
Result<> CommandStage::check_last_ending(Copy& copy, const Ending& ending) {
  if (!fails()) {
    if (!ending.good()) return invalid("the command " + in_words(ending));
    return copy.cut_off ? Result<>(invalid(kEndedInALine)) : Done{};
  }
  const auto given = held_by(copy);
  if (given == given_.end() || ending.good() || ending.signal != 0) return Done{};
  copy.process->read_errors();
  if (Result<> said = fail_record(given, failure_of(ending, copy.process->last_error())); !said) return said;
  finish_record(given);
  return Done{};
}

void CommandStage::report_silence() {
  for (Copy& copy : copies_) {
    if (copy.reported || copy.unanswered == 0 || Clock::now() - copy.spoke_at < options_.silence) continue;
    copy.reported = true;
    report_("a command has not answered for " + std::to_string(options_.silence.count() / 1000) +
            " s; does it write each line at once (jq --unbuffered, flush in Python)?");
  }
}

Result<> CommandStage::end_lost() {
  stage_.keep_leases();
  for (const stage::LostLease& lost : stage_.take_lost()) {
    const auto given = given_.find(ticket_text(lost.ticket));
    if (given == given_.end()) continue;
    report_("no heartbeat was acknowledged in time, so the lease is lost: the command is ended, and others get " +
            shown(given->second.work));
    // Half of what is left is for SIGKILL.
    end_copy(copies_[given->second.copy], milliseconds(lost.left.value() / 2));
    if (Result<> done = give_up(given); !done) return done;
  }
  for (Copy& copy : copies_)
    if (Result<> replaced = replace_when_ended(copy); !replaced) return replaced;
  return Done{};
}

void CommandStage::end_hanging() {
  if (options_.answer_within == milliseconds(0)) return;
  for (Copy& copy : copies_) {
    if (copy.kill_at || copy.unanswered == 0 || Clock::now() - copy.spoke_at < options_.answer_within) continue;
    const std::string for_seconds =
        "a command has not answered for " + std::to_string(options_.answer_within.count() / 1000) + " s";
    report_(for_seconds + " and is ended" +
            (fails() ? "" : "; others get the " + std::to_string(copy.unanswered) + " documents that it was given"));
    end_copy(copy, kHangingLimit, for_seconds);
  }
}

void CommandStage::end_copy(Copy& copy, milliseconds within, std::string why) {
  if (copy.kill_at) return;
  copy.kill_at = Clock::now() + within;
  copy.told_to_end = std::move(why);
  copy.process->kill(SIGTERM);
}

// What it was given besides is given up as well: nobody knows what of that it has done.
Result<> CommandStage::replace_when_ended(Copy& copy) {
  if (!copy.kill_at) return Done{};
  if (!copy.process->ending()) {
    if (Clock::now() >= *copy.kill_at) copy.process->kill(SIGKILL);
    return Done{};
  }
  if (Result<> taken = take_rest(copy); !taken) return taken;
  for (auto given = held_by(copy); given != given_.end(); given = held_by(copy)) {
    if (!fails()) {
      if (Result<> done = give_up(given); !done) return done;
      continue;
    }
    if (Result<> said = fail_record(given, {.error = copy.told_to_end}); !said) return said;
    finish_record(given);
  }
  return finishing_ ? Done{} : start_again(copy);
}

Result<> CommandStage::take_rest(Copy& copy) {
  copy.process->read_errors();
  copy.process->read_some();
  return take_lines(copy);
}

Result<> CommandStage::start_again(Copy& copy) {
  auto process = CommandProcess::start(options_.command, fails() ? StandardError::kHeard : StandardError::kOurs);
  if (!process) return process.error();
  copy = {.process = std::move(process).value(), .spoke_at = Clock::now()};
  return Done{};
}

Result<> CommandStage::give_up(GivenByTicket::iterator given) {
  const Given& record = given->second;
  if (!record.work.has_lease)
    return invalid("a command was ended, and nothing but a new start gives back " + shown(record.work));
  stage_.give_up(record.work);
  ++counts_.given_up;
  --copies_[record.copy].unanswered;
  given_.erase(given);
  return Done{};
}

}  // namespace reseq::command
