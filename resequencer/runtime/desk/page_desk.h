// PageDesk: keeps the page of this instance supplied with pictures of the whole application, for as long as somebody
// looks: what this process knows of itself, and what the other instances answer on the admin topic, where it asks as
// any client does. While nobody looks it remembers what there was (page_memory.h), for which one instance of
// all asks four times a minute; who answered before this process was there it reads back once. It has clients and a
// thread of its own, and none of them without a page to serve.
// Thread rule: start() and stop() from one thread.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <thread>

#include "admin/asker.h"
#include "http/broadcast.h"
#include "kafka/broker_watch.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/desk/page_memory.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

class PageDesk {
 public:
  // REQUIRES: all outlive the desk, and the application's facts of the brokers are known.
  PageDesk(const Application& application, const Board& board, const Clock& clock, const kafka::BrokerWatch& brokers,
           http::Broadcast& pictures);
  ~PageDesk();
  PageDesk(const PageDesk&) = delete;
  PageDesk& operator=(const PageDesk&) = delete;

  // Nothing begins where there is no page.
  void start();
  // Comes back at once; stop() waits, for brokers perhaps.
  void ask_to_stop();
  void stop();

 private:
  void run();
  void show();
  void remember();
  void recall();
  void ask_others(admin::Answers& answers);
  void look_at_letters();
  Result<> open_asker();
  void send(const admin::Answers& answers);
  [[nodiscard]] admin::Answers own_answers() const;

  const Application& application_;
  const Board& board_;
  const Clock& clock_;
  const kafka::BrokerWatch& brokers_;
  http::Broadcast& pictures_;
  std::unique_ptr<admin::Asker> asker_;
  std::string trouble_;             // why the others cannot be asked; empty: they can
  Milliseconds retry_at_;           // when that is tried again
  admin::Json letters_;             // of the dead-letter topic, as it was then; null: nobody has looked yet
  Milliseconds letters_at_;         // when it is looked at again
  std::set<std::string> expected_;  // instances that have answered last
  std::uint64_t round_ = 0;
  PageMemory memory_;
  admin::Answers overheard_;  // since it was remembered last
  Milliseconds remember_at_;
  unsigned recalls_left_;   // how often it may still be tried to read back who answered; 0: it is known, or given up
  Milliseconds recall_at_;  // when that is tried
  bool recall_failed_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// One picture, as the page reads it (docs/page.md). `trouble`: why others could not be asked, or empty.
[[nodiscard]] admin::Json picture_json(const admin::Answers& answers, const std::string& own,
                                       const std::string& trouble, Milliseconds every, UnixMs now);

}  // namespace reseq::runtime
