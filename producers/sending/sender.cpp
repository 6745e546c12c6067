#include "producers/sending/sender.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace reseq::sending {
namespace {

constexpr Milliseconds kQueueWait{50};
constexpr std::chrono::milliseconds kPollWhilePacing{50};
constexpr std::uint64_t kRecordsBetweenPolls = 64;
// A stall is made up for, but by no more than this, so that it does not end in a burst.
constexpr std::chrono::seconds kDebtMax{1};

Milliseconds as_limit(std::chrono::milliseconds time) {
  return Milliseconds(time.count());
}

Error invalid(std::string message) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::move(message)};
}

}  // namespace

Sender::Sender(ChangeSource& source, const tagging::Tagger& tagger, tagging::RequestSink& sink, SendOptions options)
    : source_(source), tagger_(tagger), sink_(sink), options_(std::move(options)) {}

Result<> Sender::resume() {
  if (options_.resume_file == nullptr) return Done{};
  Result<std::optional<ResumeState>> loaded = options_.resume_file->load();
  if (!loaded.ok()) return loaded.error();
  const std::optional<ResumeState>& state = loaded.value();
  if (!state.has_value()) return Done{};
  if (state->stream != source_.stream())
    return invalid("the state file belongs to the stream '" + state->stream + "', this one is '" + source_.stream() +
                   "': use another state file");
  if (state->destination != options_.destination)
    return invalid("the state file belongs to topic " + state->destination + ": use another state file");
  saved_ = state->mark;
  return source_.resume_after(state->mark);
}

Result<SendReport> Sender::run(ProgressReport& progress, const Complaint& complain, const std::atomic<bool>& stop) {
  total_ = source_.items_to_come();
  started_ = Clock::now();
  next_due_ = started_;
  Clock::time_point last_checkpoint = started_;
  Clock::time_point last_progress = started_;
  progress.show(progress_now(false));
  for (bool more = true; more;) {
    if (stop.load(std::memory_order_relaxed)) {
      report_.stopped = true;
      break;
    }
    Result<bool> stepped = step(complain, stop);
    if (!stepped.ok()) {
      // A bad item says nothing about the records before it: they are delivered, as the caller expects.
      if (stepped.error().what_to_do == ErrorClass::kInvalid) (void)sink_.flush(as_limit(options_.flush_limit));
      return stepped.error();
    }
    more = stepped.value();
    const Clock::time_point now = Clock::now();
    if (now - last_progress >= options_.progress_interval) {
      progress.show(progress_now(false));
      last_progress = now;
    }
    if (options_.resume_file != nullptr && now - last_checkpoint >= options_.checkpoint_interval) {
      Result<> saved = checkpoint();
      if (!saved.ok()) return saved.error();
      last_checkpoint = Clock::now();
    }
  }
  Result<> saved = checkpoint();
  if (!saved.ok()) return saved.error();
  progress.show(progress_now(!report_.stopped));
  return report_;
}

Result<bool> Sender::step(const Complaint& complain, const std::atomic<bool>& stop) {
  Result<std::optional<Item>> next = source_.next();
  if (!next.ok()) {
    // A read that a signal interrupted: run() looks at `stop`.
    if (next.error().what_to_do == ErrorClass::kRetriable) return true;
    return next.error();
  }
  const std::optional<Item>& item = next.value();
  if (!item.has_value()) return false;

  if (const auto* unusable_item = std::get_if<Unusable>(&*item)) {
    Result<> skipped = unusable(complain, unusable_item->reason);
    if (!skipped.ok()) return skipped.error();
    return true;
  }
  const Result<tagging::TaggedRecord> record = tagger_.tag(std::get<tagging::Change>(*item));
  if (!record.ok()) {
    Result<> skipped = unusable(complain, record.error().message);
    if (!skipped.ok()) return skipped.error();
    return true;
  }
  pace(stop);
  Result<> produced = produce(record.value(), stop);
  if (!produced.ok()) return produced.error();
  return true;
}

Result<> Sender::produce(const tagging::TaggedRecord& record, const std::atomic<bool>& stop) {
  for (;;) {
    Result<> produced = sink_.produce(record);
    if (produced.ok()) break;
    const bool full = produced.error().what_to_do == ErrorClass::kRetriable;
    if (!full) {
      Error error = produced.error();
      error.message = source_.place() + ": " + error.message;
      return error;
    }
    // The item was read but not sent, so its mark must not be saved: end without a checkpoint.
    if (stop.load(std::memory_order_relaxed))
      return Error{.what_to_do = ErrorClass::kRetriable, .code = 0, .message = "stopped while the queue was full"};
    sink_.poll(kQueueWait);
  }
  ++report_.sent;
  if (report_.sent % kRecordsBetweenPolls == 0) sink_.poll(Milliseconds(0));
  return Done{};
}

Result<> Sender::unusable(const Complaint& complain, const std::string& reason) {
  if (options_.on_unusable == OnUnusable::kStop) return invalid(source_.place() + ": " + reason);
  complain(source_.place(), reason);
  ++report_.skipped;
  return Done{};
}

Result<> Sender::checkpoint() {
  Result<> flushed = sink_.flush(as_limit(options_.flush_limit));
  if (!flushed.ok()) return flushed;
  if (options_.resume_file == nullptr) return Done{};
  Mark mark = source_.mark();
  if (saved_ == mark) return Done{};
  Result<> saved =
      options_.resume_file->save({.stream = source_.stream(), .destination = options_.destination, .mark = mark});
  if (!saved.ok()) return saved;
  saved_ = std::move(mark);
  return Done{};
}

void Sender::pace(const std::atomic<bool>& stop) {
  while (options_.hold && !stop.load(std::memory_order_relaxed) && options_.hold())
    sink_.poll(as_limit(kPollWhilePacing));
  if (options_.records_per_second == 0) return;
  auto now = Clock::now();
  next_due_ = std::max(next_due_, now - Clock::duration(kDebtMax));
  while (now < next_due_ && !stop.load(std::memory_order_relaxed)) {
    const auto wait = std::chrono::floor<std::chrono::milliseconds>(next_due_ - now);
    if (wait.count() == 0) {
      std::this_thread::sleep_until(next_due_);
    } else {
      sink_.poll(as_limit(std::min(wait, kPollWhilePacing)));
    }
    now = Clock::now();
  }
  const std::chrono::duration<double> gap(1.0 / static_cast<double>(options_.records_per_second));
  next_due_ += std::chrono::duration_cast<Clock::duration>(gap);
}

Progress Sender::progress_now(bool done) const {
  return {.sent = report_.sent,
          .skipped = report_.skipped,
          .total = total_,
          .elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - started_),
          .done = done};
}

}  // namespace reseq::sending
