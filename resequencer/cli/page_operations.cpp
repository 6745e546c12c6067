#include "cli/page_operations.h"

#include <string>

#include "cli/mend_all.h"
#include "cli/operations.h"
#include "cli/refusal.h"
#include "model/row.h"

namespace reseq::cli {

namespace {

// So long that it is worth its clients, and so short that it holds up no end of the process: what it has to look
// through may be much more than what it finds.
constexpr std::int64_t kSliceDocuments = 200;
constexpr Milliseconds kSliceTime{3'000};
// Stands in the audit event, in front of a part that is drawn.
constexpr const char* kControlId = "page";

OperationOptions options_for(std::string& told) {
  OperationOptions options;
  options.ask.view = View::kJson;
  options.control_id = kControlId;
  options.told = &told;
  return options;
}

Result<std::string> reprocess_from_page(const config::Settings& settings, const std::string& error,
                                        const std::string& from) {
  if (error.size() > kMaxErrorBytes)
    return invalid("error has to be at most " + std::to_string(kMaxErrorBytes) + " bytes");
  Selection selection;
  selection.state = admin::State::kFailed;
  selection.error.shown = error;
  selection.documents_max = kSliceDocuments;
  selection.time_max = kSliceTime;
  selection.from = from;
  std::string told;
  if (auto done = reprocess_all(settings, selection, options_for(told)); !done) return done.error();
  return told;
}

Result<std::string> resume_from_page(const config::Settings& settings, const std::string& target) {
  if (target.empty()) return invalid("target has to be there");
  std::string told;
  if (auto done = resume_target(settings, target, std::nullopt, options_for(told)); !done) return done.error();
  return told;
}

}  // namespace

runtime::PageOperations page_operations() {
  return {.reprocess = reprocess_from_page, .resume = resume_from_page};
}

}  // namespace reseq::cli
