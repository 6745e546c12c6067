// Sender: moves a stream of changes into the topic `requests`: read, tag, pace, produce; save the mark after a flush.
// Invariant: a mark is saved only when every record before it was acknowledged, so that a producer that is killed and
// started again leaves no gap. What it sends twice has the same id, sequence and payload: a duplicate.
// Thread rule: one thread; `stop` may be set by a signal handler or another thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "producers/sending/change_source.h"
#include "producers/sending/progress.h"
#include "producers/sending/resume_file.h"
#include "producers/tagging/request_sink.h"
#include "producers/tagging/tagger.h"

namespace reseq::sending {

enum class OnUnusable : std::uint8_t { kSkip, kStop };

struct SendOptions {
  OnUnusable on_unusable = OnUnusable::kStop;
  std::uint64_t records_per_second = 0;  // 0 = as fast as possible
  std::function<bool()> hold = {};       // asked before every record: true = wait, somebody has to catch up first
  std::chrono::milliseconds checkpoint_interval{2000};
  std::chrono::milliseconds progress_interval{1000};
  std::chrono::milliseconds flush_limit{120000};  // without any acknowledgement for so long the run has failed
  const ResumeFile* resume_file = nullptr;        // null: nothing is saved
  std::string destination;                        // the topic, kept in the resume file
};

struct SendReport {
  std::uint64_t sent = 0;
  std::uint64_t skipped = 0;
  bool stopped = false;  // by `stop`, before the end of the stream
};

class Sender {
 public:
  // Is told of every item that is skipped: place and reason.
  using Complaint = std::function<void(const std::string& place, const std::string& reason)>;

  // REQUIRES: all of them outlive the sender.
  Sender(ChangeSource& source, const tagging::Tagger& tagger, tagging::RequestSink& sink, SendOptions options);

  // Goes on after the mark of the resume file, if there is one. kInvalid: the file belongs to another stream or topic.
  Result<> resume();

  // Sends until the end of the stream, or until `stop`. When it comes back good, everything is acknowledged and saved.
  Result<SendReport> run(ProgressReport& progress, const Complaint& complain, const std::atomic<bool>& stop);

 private:
  using Clock = std::chrono::steady_clock;

  // False at the end of the stream.
  Result<bool> step(const Complaint& complain, const std::atomic<bool>& stop);
  Result<> produce(const tagging::TaggedRecord& record, const std::atomic<bool>& stop);
  Result<> unusable(const Complaint& complain, const std::string& reason);
  Result<> checkpoint();
  // Waits for the record's turn at the rate that was asked for.
  void pace(const std::atomic<bool>& stop);
  [[nodiscard]] Progress progress_now(bool done) const;

  ChangeSource& source_;
  const tagging::Tagger& tagger_;
  tagging::RequestSink& sink_;
  SendOptions options_;
  SendReport report_;
  std::optional<Mark> saved_;
  std::optional<std::uint64_t> total_;
  Clock::time_point started_;
  Clock::time_point next_due_;
};

}  // namespace reseq::sending
