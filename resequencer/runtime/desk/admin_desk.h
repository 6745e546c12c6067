// AdminDesk: answers what is asked on the admin topic, for the partitions of this instance. It has clients and a thread
// of its own: brokers that refuse it, or a topic that does not exist, are its own trouble and no worker's.
//
// What workers tell of themselves is asked of all and answered when they have told, but for one that takes long. What
// is in a state is asked of its worker, and answered when that has come or the client has given up.
// Thread rule: start() and stop() from one thread.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "admin/document_json.h"
#include "admin/inbox.h"
#include "runtime/application/application.h"
#include "runtime/application/clock.h"
#include "runtime/desk/state_question.h"
#include "runtime/worker/report.h"

namespace reseq::runtime {

class AdminDesk {
 public:
  // REQUIRES: all outlive the desk, and the application's facts of the brokers are known. `mailboxes`: by worker.
  AdminDesk(const Application& application, Board& board, std::vector<std::unique_ptr<Mailbox>>& mailboxes,
            const Clock& clock);
  ~AdminDesk();
  AdminDesk(const AdminDesk&) = delete;
  AdminDesk& operator=(const AdminDesk&) = delete;

  void start();
  // Comes back at once; stop() waits, for brokers perhaps.
  void ask_to_stop();
  void stop();

 private:
  // A partition whose worker was asked. Each is answered for itself: pages of several would be too large for a record.
  struct Waiting {
    admin::ReplyTo reply_to;
    std::string query;
    Partition partition;
    std::int32_t partitions_asked = 1;  // by this request, of all instances
    Milliseconds until;
    std::shared_ptr<AnswerBox> box;
  };

  // Workers were asked to tell of themselves.
  struct Telling {
    admin::ReplyTo reply_to;
    std::size_t query;  // index in admin::Query
    std::uint64_t question;
    Milliseconds until;
  };

  void run();
  Result<> open_inbox();
  Result<> serve();
  void log_trouble(const Error& error);
  void take(const admin::Incoming& incoming);
  void ask_states(const admin::Request& request, const admin::ReplyTo& reply_to);
  void post(const std::variant<admin::DocumentQuery, admin::ListQuery>& what, Waiting waiting);
  void settle();
  [[nodiscard]] admin::Json told_by_workers(std::size_t query) const;
  void answer(const Waiting& waiting);
  void reply(const admin::ReplyTo& to, const admin::Json& json);

  const Application& application_;
  Board& board_;
  std::vector<std::unique_ptr<Mailbox>>& mailboxes_;
  const Clock& clock_;
  std::unique_ptr<admin::Inbox> inbox_;
  std::vector<Waiting> waiting_;
  std::vector<Telling> telling_;
  bool troubled_ = false;  // and told so
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace reseq::runtime
