// How a history is told to a person.
#include "tests/property/history.h"

#include <sstream>
#include <string>
#include <type_traits>

#include "base/assert.h"

namespace reseq::property {
namespace {

std::string order_text(const std::optional<Epoch>& epoch, const Sequence& sequence, Revision revision) {
  std::string text = epoch ? std::to_string(epoch->value()) : std::string("-");
  return text + "/" + std::to_string(sequence.number().value_or(0)) + "/" + std::to_string(revision.value());
}

std::string_view name_of(Op op) {
  return op == Op::kDelete ? "delete" : "upsert";
}

std::string registration_text(const Registration& what) {
  std::string text(what.id);
  text += " " + order_text(what.epoch, what.sequence, what.revision) + " " + std::string(name_of(what.op));
  text += what.targets ? " to " + property::describe(*what.targets) : std::string(" routed");
  return text + (what.headers.empty() ? "" : " with header");
}

struct Describe {
  std::string operator()(const Request& request) const {
    std::string text = "request " + registration_text(request.what) + " hash " + std::to_string(request.hash.value());
    if (request.work_bytes > 1000) text += " large";
    return text + (request.reprocess ? " reprocess" : "");
  }
  std::string operator()(const Register& command) const { return "REGISTER " + registration_text(command.what); }
  std::string operator()(const Unregister& command) const {
    std::string text = "UNREGISTER " + std::string(command.id) + " ";
    text += order_text(command.epoch, command.sequence, command.revision);
    text += command.everything ? std::string(" *") : " " + property::describe(command.targets);
    return text + (command.from_list ? " from list" : "");
  }
  std::string operator()(const SequenceResult& result) const {
    std::string text = "SEQUENCE " + std::string(result.id) + " ";
    text += order_text(result.epoch, result.sequence, result.revision) + " to " + std::to_string(result.target.value());
    if (result.observed) text += " observed " + std::to_string(result.observed->value());
    return text + (result.output_bytes > 1000 ? " large" : "");
  }
  std::string operator()(const Heartbeat& command) const {
    return "HEARTBEAT " + std::string(command.id) + " " + order_text(command.epoch, command.sequence, command.revision);
  }
  std::string operator()(const Fail& command) const {
    return "FAIL " + std::string(command.id) + " " + order_text(command.epoch, command.sequence, command.revision);
  }
  std::string operator()(const Reset& reset) const {
    return "RESET to epoch " + std::to_string(reset.default_epoch.value());
  }
  std::string operator()(const Expire& command) const {
    return "expire " + std::string(command.id) + " " + property::describe(command.targets) + told(command.expected);
  }
  std::string operator()(const DispatchByHand& command) const {
    return (command.until ? "postpone " : "now ") + std::string(command.id) + " " +
           property::describe(command.targets) + told(command.expected);
  }
  std::string operator()(const ReleaseByHand& command) const {
    return "by hand: " + (*this)(command.result) + told(command.expected);
  }
  std::string operator()(const RaiseFloor& command) const { return "floor " + std::to_string(command.floor.value()); }
  std::string operator()(const Pause& command) const { return command.paused ? "pause" : "resume"; }
  std::string operator()(const ResumeTarget&) const { return "resume-target"; }
  std::string operator()(const SkipPlace& command) const { return "skip " + std::string(command.id); }
  static std::string told(const std::optional<ExpectedRequest>& expected) {
    return expected ? " expecting " + order_text(expected->epoch, expected->sequence, Revision()) : std::string();
  }
  std::string operator()(const Refused& refused) const {
    return "refused " + std::string(reseq::name_of(refused.reason)) +
           (refused.sequence_without_id_or_seq ? " (result)" : "");
  }
};

}  // namespace

std::size_t document_of(std::string_view id) {
  for (std::size_t i = 0; i < kDocuments; ++i)
    if (kIds[i] == id) return i;
  RESEQ_ASSERT(false, "an id that is none of the world's");
}

std::string_view id_of(const Command& command) {
  return std::visit(
      [](const auto& each) -> std::string_view {
        if constexpr (requires { each.what.id; })
          return each.what.id;
        else if constexpr (requires { each.id; })
          return each.id;
        else if constexpr (requires { each.result.id; })
          return each.result.id;
        else
          return {};
      },
      command);
}

std::string describe(const Order& order) {
  return order_text(order.epoch, order.sequence, order.revision);
}

std::string describe(TargetSet targets) {
  std::string text = "{";
  for (const TargetNumber target : targets) text += (text.size() > 1 ? "," : "") + std::to_string(target.value());
  return text + "}";
}

std::string describe(const Entry& entry) {
  std::ostringstream out;
  out << (entry.input.log == Log::kRequests ? "requests@" : "commands@") << entry.input.position.value() << "  "
      << std::visit(Describe{}, entry.input.command) << (entry.requests_read ? "  (requests read)" : "") << "  ->  "
      << reseq::name_of(entry.decision.table_row) << ' ' << reseq::name_of(entry.decision.outcome);
  if (entry.decision.reason != Reason::kNone) out << ' ' << reseq::name_of(entry.decision.reason);
  if (entry.held) out << " held";
  if (entry.forward) out << " forward " << describe(entry.forward->order) << ' ' << describe(entry.forward->targets);
  if (entry.release)
    out << " release " << describe(entry.release->order) << " to " << unsigned{entry.release->target.value()}
        << " version " << entry.release->version.value();
  return out.str();
}

std::string describe(const BatchRecord& batch) {
  std::ostringstream out;
  out << "batch at " << batch.now.value() << "\n";
  for (const Entry& entry : batch.entries) out << "    " << describe(entry) << "\n";
  for (const LetThrough& one : batch.let_through)
    out << "    requests@" << one.position.value() << " was held"
        << (one.forward ? ": forward " + describe(one.forward->order) + ' ' + describe(one.forward->targets)
                        : ": nobody waits for it")
        << "\n";
  for (const auto& [document, targets] : batch.overdue) out << "    overdue " << kIds[document] << "\n";
  return out.str();
}

}  // namespace reseq::property
