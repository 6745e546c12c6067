// PageDesk: keeps the page of this instance supplied with pictures of the whole application, for as long as somebody
// looks: what this process knows of itself, and what the other instances answer on the admin topic, where it asks as
// any client does. It has clients and a thread of its own; nothing is opened, asked or made while nobody looks.
// Thread rule: start() and stop() from one thread.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "admin/asker.h"
#include "http/broadcast.h"
#include "runtime/application.h"
#include "runtime/clock.h"
#include "runtime/report.h"

namespace reseq::runtime {

class PageDesk {
 public:
  // REQUIRES: all outlive the desk, and the application's facts of the brokers are known.
  PageDesk(const Application& application, const Board& board, const Clock& clock, http::Broadcast& pictures);
  ~PageDesk();
  PageDesk(const PageDesk&) = delete;
  PageDesk& operator=(const PageDesk&) = delete;

  void start();
  // Comes back at once; stop() waits, for brokers perhaps.
  void ask_to_stop();
  void stop();

 private:
  void run();
  void show();
  void ask_others(admin::Answers& answers);
  Result<> open_asker();
  void send(const admin::Answers& answers);
  [[nodiscard]] admin::Answers own_answers() const;

  const Application& application_;
  const Board& board_;
  const Clock& clock_;
  http::Broadcast& pictures_;
  std::unique_ptr<admin::Asker> asker_;
  std::string trouble_;             // why the others cannot be asked; empty: they can
  Milliseconds retry_at_;           // when that is tried again
  std::set<std::string> expected_;  // instances that have answered last
  std::uint64_t round_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// One picture, as the page reads it (docs/page.md). `trouble`: why others could not be asked, or empty.
[[nodiscard]] admin::Json picture_json(const admin::Answers& answers, const std::string& own,
                                       const std::string& trouble, Milliseconds every, UnixMs now);

}  // namespace reseq::runtime
