#include "consumers/command/command_stage.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <poll.h>
#include <string_view>
#include <thread>
#include <utility>

#include "base/log.h"

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
constexpr const char* kEndedInALine = "the command ended in the middle of a line";

Error invalid(std::string message) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::move(message)};
}

std::string ticket_text(const stage::Ticket& ticket) {
  return std::to_string(ticket.partition.value()) + "-" + std::to_string(ticket.offset.value()) + "-" +
         std::to_string(ticket.assignment.value());
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    names.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
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
  for (std::size_t i = 0; i < options_.copies; ++i) {
    auto process = CommandProcess::start(options_.command);
    if (!process) return process.error();
    copies_.push_back({.process = std::move(process).value(), .spoke_at = Clock::now()});
  }
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
    if (least_busy() == nullptr) return false;
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
  std::vector<Header> headers;
  for (const stage::OwnedHeader& header : work.headers)
    headers.push_back({header.name, header.value ? std::optional<std::string_view>(*header.value) : std::nullopt});
  const std::string ticket = ticket_text(work.ticket);
  copy.process->give(lines::work_line(ticket, {.key = work.key, .payload = work.payload, .headers = headers},
                                      targets.value(), options_.payload_form));
  if (copy.unanswered++ == 0) copy.spoke_at = Clock::now();
  ++counts_.records;
  const auto place = static_cast<std::size_t>(&copy - copies_.data());
  given_.emplace(ticket, Given{.work = std::move(work), .targets = std::move(targets).value(), .copy = place});
  return Done{};
}

Result<std::vector<std::string>> CommandStage::targets_of(const stage::Work& work) const {
  std::vector<std::string> targets = split(work.header("reseq-targets"));
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
    if (found == nullptr || copy.unanswered < found->unanswered) found = &copy;
  }
  return found;
}

Result<> CommandStage::serve(milliseconds limit) {
  std::vector<pollfd> ends;
  for (const Copy& copy : copies_) {
    ends.push_back({.fd = copy.process->output(), .events = POLLIN, .revents = 0});
    const bool writes = copy.process->waiting_bytes() > 0;
    ends.push_back({.fd = writes ? copy.process->input() : -1, .events = POLLOUT, .revents = 0});
  }
  if (::poll(ends.data(), ends.size(), static_cast<int>(limit.count())) <= 0) return Done{};
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (ends[2 * i + 1].revents != 0) copies_[i].process->write_some();
    if (ends[2 * i].revents == 0) continue;
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
  if (line.too_long)
    return bad_line(line.text, "longer than " + std::to_string(LineBuffer::kLineBytesMax) + " bytes", given_.end());
  Result<lines::ResultLine> parsed = lines::parse_result_line(line.text);
  if (copy.kill_at && given_of(parsed, line.text) == given_.end()) return Done{};  // it is not ours any more
  if (!parsed && !line.ended) {                                                    // that it ended is what is wrong
    copy.cut_off = true;
    return Done{};
  }
  const auto given = given_of(parsed, line.text);
  if (!parsed) return bad_line(line.text, parsed.error().message, given);
  if (given == given_.end()) return bad_line(line.text, "no record with this ticket waits for an answer", given);
  return take_answer(given, parsed.value(), line.text);
}

CommandStage::GivenByTicket::iterator CommandStage::given_of(const Result<lines::ResultLine>& parsed,
                                                             std::string_view text) {
  const std::optional<std::string> ticket = parsed ? parsed.value().ticket : lines::ticket_of(text);
  return ticket ? given_.find(*ticket) : given_.end();
}

Result<> CommandStage::take_answer(GivenByTicket::iterator given, const lines::ResultLine& answer,
                                   std::string_view text) {
  if (answer.answer != stage::Answer::kRegister)
    for (const std::string& target : answer.targets)
      if (!contains(given->second.targets, target))
        return bad_line(text, "the work line does not name this target", given, !answer.done);
  if (Result<> sent = send(given->second, answer); !sent) {
    if (sent.error().what_to_do != ErrorClass::kInvalid) return sent;
    return bad_line(text, sent.error().message, given, !answer.done);
  }
  if (answer.done) finish_record(given);
  return Done{};
}

void CommandStage::finish_record(GivenByTicket::iterator given) {
  stage_.finish(given->second.work);
  --copies_[given->second.copy].unanswered;
  given_.erase(given);
}

Result<> CommandStage::send(const Given& given, const lines::ResultLine& line) {
  if (!line.answer) return Done{};
  const std::vector<std::string>& targets = line.targets.empty() ? given.targets : line.targets;
  stage::StageResult result{.answer = *line.answer, .op = line.op, .payload = line.payload, .headers = line.headers};
  if (result.answer == stage::Answer::kRegister) {
    result.target = joined(targets);
    ++counts_.results;
    return stage_.send(given.work, result);
  }
  for (const std::string& target : targets) {
    result.target = target;
    ++counts_.results;
    if (Result<> sent = stage_.send(given.work, result); !sent) return sent;
  }
  return Done{};
}

Result<> CommandStage::bad_line(std::string_view text, const std::string& why, GivenByTicket::iterator given,
                                bool more_comes) {
  ++counts_.bad_lines;
  const std::string message =
      "the command answered a line that cannot be used: " + why + ": " + log::outside(text.substr(0, kShownBytes));
  if (options_.on_bad_line == OnBadLine::kStop) return invalid(message);
  if (given == given_.end()) {
    report_(message);
    return Done{};
  }
  const stage::Work& work = given->second.work;
  report_(message + "; passed over, of " + shown(work));
  if (!more_comes) finish_record(given);
  return Done{};
}

Result<> CommandStage::check_endings() {
  for (Copy& copy : copies_)
    if (Result<> alive = check_ending(copy); !alive) return alive;
  return Done{};
}

Result<> CommandStage::check_ending(Copy& copy) {
  if (copy.kill_at) return Done{};
  if (!copy.process->output_ended() && !copy.process->input_refused()) return Done{};
  if (!copy.closed_at) copy.closed_at = Clock::now();
  const std::optional<std::string> ending = copy.process->ending();
  if (!ending && Clock::now() - *copy.closed_at < options_.end_limit) return Done{};
  if (!ending) return invalid("the command does not read or write any more");
  // Whatever it has still said comes first.
  copy.process->read_some();
  if (Result<> taken = take_lines(copy); !taken) return taken;
  if (!ending->empty()) return invalid("the command " + *ending);
  return invalid(copy.cut_off ? kEndedInALine : "the command ended while there was work to do");
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
    std::optional<std::string> ending;
    while (!(ending = copy.process->ending()) && Clock::now() < until) std::this_thread::sleep_for(kBusyWait);
    if (!ending) return invalid("the command did not end when its input did");
    if (!ending->empty()) return invalid("the command " + *ending);
    if (copy.cut_off) return invalid(kEndedInALine);
  }
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
    report_("a command has not answered for " + std::to_string(options_.answer_within.count() / 1000) +
            " s and is ended; others get the " + std::to_string(copy.unanswered) + " documents that it was given");
    end_copy(copy, kHangingLimit);
  }
}

void CommandStage::end_copy(Copy& copy, milliseconds within) {
  if (copy.kill_at) return;
  copy.kill_at = Clock::now() + within;
  copy.process->kill(SIGTERM);
}

// What it was given besides is given up as well: nobody knows what of that it has done.
Result<> CommandStage::replace_when_ended(Copy& copy) {
  if (!copy.kill_at) return Done{};
  if (!copy.process->ending()) {
    if (Clock::now() >= *copy.kill_at) copy.process->kill(SIGKILL);
    return Done{};
  }
  copy.process->read_some();
  if (Result<> taken = take_lines(copy); !taken) return taken;
  const auto place = static_cast<std::size_t>(&copy - copies_.data());
  for (auto given = given_.begin(); given != given_.end();) {
    const auto next = std::next(given);
    if (given->second.copy == place)
      if (Result<> done = give_up(given); !done) return done;
    given = next;
  }
  if (finishing_) return Done{};
  auto process = CommandProcess::start(options_.command);
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
