#include "cli/operation_commands.h"

#include <algorithm>
#include <array>
#include <map>

#include "cli/dead_letters.h"
#include "cli/mend_all.h"
#include "cli/option_values.h"
#include "cli/redrive.h"
#include "cli/refusal.h"
#include "cli/reprocess.h"
#include "model/ids.h"
#include "model/reason.h"

namespace reseq::cli {

namespace {

CLI::Validator reason() {
  const auto look = [](const std::string& name) {
    if (std::find(kReasonNames.begin(), kReasonNames.end(), name) != kReasonNames.end()) return std::string();
    return "\"" + name + "\" is no reason: `dead-letter list` shows those that there are";
  };
  return CLI::Validator(look, "REASON");
}

void declare_letters(CLI::App& app, OperationCommands& all, OperationArguments& into) {
  CLI::App* letters = app.add_subcommand("dead-letter", "inputs that could not be used");
  letters->require_subcommand(1);
  all.letters_list = letters->add_subcommand("list", "those that fit, the newest if there are too many");
  all.letters_show = letters->add_subcommand("show", "one of them, with its headers");
  all.letters_redrive = letters->add_subcommand("redrive", "write inputs again to where they came from");
  all.letters_show->add_option("place", into.places, "as `dead-letter list` shows it, PARTITION:OFFSET")
      ->required()
      ->expected(1);
  all.letters_redrive->add_option("place", into.places, "as `dead-letter list` shows them, PARTITION:OFFSET");
  all.letters_redrive->add_flag("--old", into.old,
                                "also requests and REGISTERs older than what is remembered: they may undo newer ones");
  all.letters_redrive->add_flag("--all", into.all_letters, "all that fit --reason, --prefix and --since");
  for (CLI::App* command : {all.letters_list, all.letters_redrive}) {
    command->add_option("--reason", into.filter.reason, "only with this reason")->check(reason());
    command->add_option("--prefix", into.filter.id_prefix, "only of ids that begin with it");
    command->add_option("--since", into.since_ms, "written within this time, as 90s, 10m, 2h")->transform(duration());
    command->add_option("--max", into.filter.letters_max, "at most so many")->check(CLI::PositiveNumber);
  }
}

void declare_dispatch(CLI::App& app, OperationCommands& all, OperationArguments& into) {
  CLI::App* dispatch = app.add_subcommand("dispatch", "when what waits of a document goes to work");
  dispatch->require_subcommand(1);
  all.dispatch_now = dispatch->add_subcommand("now", "at once and most urgent, as far as an older order lets it");
  all.dispatch_postpone = dispatch->add_subcommand("postpone", "not before a date");
  for (CLI::App* command : {all.dispatch_now, all.dispatch_postpone}) {
    into.id.declare(*command);
    command->add_option("--target", into.expire.target,
                        "only orders that wait for this target; default: all that wait");
  }
  all.dispatch_postpone->add_option("--until", into.until, "the date, RFC 3339 or milliseconds since 1970")
      ->required()
      ->option_text("DATE");
}

// A document, or all of a state. What failed is over: only to ask for it again is left.
void declare_documents(CLI::App& command, OperationArguments& into, bool also_failed) {
  CLI::Option* id = into.id.declare(command);
  id->required(false);
  std::map<std::string, admin::State> states = {{"overdue", admin::State::kOverdue},
                                                {"starving", admin::State::kStarving}};
  if (also_failed) states.emplace("failed", admin::State::kFailed);
  const std::string names = also_failed ? "overdue, starving, failed" : "overdue, starving";
  CLI::Option* state =
      command.add_option("--state", into.selection.state, "instead of an id, all documents that are: " + names)
          ->transform(one_of(states))
          ->option_text("STATE");
  command.add_option("--prefix", into.selection.id_prefix, "with --state: ids that begin with it")->needs(state);
  command.add_option("--older-than", into.older_than_ms, "with --state: waits for at least so long, as 90s, 10m, 2h")
      ->transform(duration())
      ->needs(state);
  command.add_option("--max", into.selection.documents_max, "with --state: documents at most")
      ->check(CLI::PositiveNumber)
      ->needs(state);
  command.add_option("--rate", into.selection.rate, "with --state: documents a second at most (100)")
      ->check(whole_number(1, 100'000))
      ->needs(state);
  command.add_option("--from", into.selection.from, "with --state: where an earlier run has ended, as it said")
      ->needs(state);
  std::optional<ErrorOptions> error;
  if (also_failed) {
    error = ErrorOptions::declare(command, into.selection.error, "with --state failed: those ");
    for (CLI::Option* one : {error->part, error->shown}) one->needs(state);
  }
  command.callback([id, state, error, &wanted = into.selection] {
    if (id->count() == 0 && state->count() == 0) throw CLI::RequiredError("id, or --state for all that are in it,");
    // Not sooner: what stands behind an option that there is not is taken for an id.
    if (id->count() > 0 && state->count() > 0) throw CLI::ExcludesError("id", "--state");
    if (error) error->refuse_unless(wanted.state == admin::State::kFailed, "failed");
  });
}

void declare_skip(CLI::App& app, OperationCommands& all, OperationArguments& into) {
  all.skip = app.add_subcommand("skip", "a strict or total target does not wait for a version of a document any more");
  into.id.declare(*all.skip);
  all.skip->add_option("--target", into.skip.target, "that waits for it")->required();
  CLI::Option* sequence =
      all.skip->add_option("--seq", into.skip.sequence,
                           "the version that will not come; default: what the target waits for, if that is one");
  all.skip->add_option("--epoch", into.skip.epoch, "its epoch (0)")
      ->needs(sequence)
      ->check(whole_number(0, UINT32_MAX));
}

// What an operator has seen.
void declare_expectations(const OperationCommands& all, OperationArguments& into) {
  for (CLI::App* command : {all.expire, all.dispatch_now, all.dispatch_postpone, all.release}) {
    CLI::Option* sequence =
        command->add_option("--expect-seq", into.expected.sequence, "only if this is still the newest request");
    command->add_option("--expect-epoch", into.expected.epoch, "its epoch (0)")
        ->needs(sequence)
        ->check(whole_number(0, UINT32_MAX));
  }
}

// What means a document, and what means a selection. REQUIRES: the other options of both commands are declared.
void tell_selections_apart(const OperationCommands& all, OperationArguments& into) {
  all.reprocess->add_option("--target", into.selection.target, "with --state: documents that wait for this target")
      ->needs(all.reprocess->get_option("--state"));
  for (const char* name : {"--expect-seq", "--partition"})
    all.expire->get_option(name)->excludes(all.expire->get_option("--state"));
}

std::vector<LetterPlace> places_of(const std::vector<std::string>& texts, std::string& wrong) {
  std::vector<LetterPlace> places;
  for (const std::string& text : texts) {
    const auto place = parse_place(text);
    if (!place) wrong = "\"" + text + "\" is no place: `dead-letter list` shows them as PARTITION:OFFSET";
    places.push_back(place.value_or(LetterPlace{}));
  }
  return places;
}

Result<> pause_or_resume(bool paused, const OperationArguments& arguments, const config::Settings& settings) {
  if (!arguments.partition && !arguments.all_partitions)
    return invalid(paused ? "say --partition P or --all" : "say --partition P or --all, or --target T");
  return pause(settings, paused, arguments.partition, arguments.options);
}

// Without a partition it is about all of them: a target is down for all, or for none.
Result<> resume(const OperationArguments& arguments, const config::Settings& settings) {
  if (!arguments.resumed_target) return pause_or_resume(false, arguments, settings);
  return resume_target(settings, *arguments.resumed_target, arguments.partition, arguments.options);
}

Result<> redrive_those(const OperationArguments& arguments, const std::vector<LetterPlace>& places,
                       const config::Settings& settings) {
  if (places.empty() && !arguments.all_letters)
    return invalid("name the dead letters, or say --all for those that fit --reason, --prefix and --since");
  if (!places.empty() && arguments.all_letters)
    return invalid(
        "either name the dead letters or say --all, which are those that fit --reason, --prefix and --since");
  return redrive(settings, places, arguments.filter,
                 {arguments.options.dry_run, arguments.old, arguments.options.ask.view});
}

}  // namespace

OperationCommands declare_operations(CLI::App& app, OperationArguments& into) {
  OperationCommands all;
  all.expire = app.add_subcommand("expire", "wait no longer for the results of a document");
  declare_dispatch(app, all, into);
  declare_skip(app, all, into);
  const std::array of_document = {all.expire, all.dispatch_now, all.dispatch_postpone, all.skip};
  all.release = app.add_subcommand("release", "let a dead-lettered result go out, unless a newer one is known");
  all.reprocess = app.add_subcommand("reprocess", "request a document once more, as it was requested last");
  all.reset = app.add_subcommand("reset", "raise the default epoch: the producer's counter starts again");
  all.floor = app.add_subcommand("raise-version-floor", "stamp all that is released from now on above a version");
  all.pause = app.add_subcommand("pause", "let partitions decide nothing until they are resumed");
  all.resume = app.add_subcommand("resume", "let paused partitions go on, or dispatch for a target that was down");
  declare_letters(app, all, into);
  for (CLI::App* command : {all.expire, all.reprocess}) declare_documents(*command, into, command == all.reprocess);
  all.release->add_option("place", into.places, "of the dead letter, as `dead-letter list` shows it")
      ->required()
      ->expected(1);
  declare_expectations(all, into);
  all.release->add_flag(
      "--unknown", into.unknown,
      "also if no request as new as the result is known, or nothing of its target: a newer result may have gone out "
      "and be forgotten, and requests below its number are stopped");
  all.expire->add_option("--target", into.expire.target, "of this target only; default: all that are pending");
  const auto partition_number = whole_number(0, INT32_MAX);
  for (CLI::App* command : of_document)
    command->add_option("--partition", into.expire.partition, "of the document, needed with partitioner = unchecked")
        ->check(partition_number);
  tell_selections_apart(all, into);
  all.floor->add_option("version", into.floor.version, "the lowest that is not used any more")
      ->required()
      ->check(whole_number(1, kVersionLimit - 1));
  all.floor->add_option("--target", into.floor.target, "of this target only");
  all.floor->add_option("--partition", into.floor.partition, "of this partition only")->check(partition_number);
  all.floor->add_option("--expect-floor", into.floor.expected, "only where this is the floor so far (0 = none)")
      ->check(whole_number(0, kVersionLimit - 1));
  all.reset->add_option("--epoch", into.epoch, "the new default epoch, absolute")
      ->required()
      ->check(whole_number(0, UINT32_MAX));
  for (CLI::App* command : {all.pause, all.resume}) {
    CLI::Option* one = command->add_option("--partition", into.partition, "this one")->check(partition_number);
    command->add_flag("--all", into.all_partitions, "all of them")->excludes(one);
  }
  all.resume->add_option("--target", into.resumed_target, "say that this target can be reached again");
  for (CLI::App* command : all.all())
    if (command != all.letters_list && command != all.letters_show)
      command->add_flag("--dry-run", into.options.dry_run, "say what would become of it, change nothing");
  for (CLI::App* command : {all.expire, all.dispatch_now, all.dispatch_postpone, all.skip, all.release, all.floor,
                            all.pause, all.resume, all.reset})
    command->add_option("--control-id", into.options.control_id, "a name in the audit event, as a ticket");
  for (CLI::App* command : {all.expire, all.dispatch_now, all.dispatch_postpone, all.skip, all.release, all.floor,
                            all.pause, all.resume, all.reprocess, all.reset})
    command->add_option("--timeout-ms", into.timeout_ms, "longest wait for the confirmation")
        ->check(CLI::Range(std::int64_t{100}, admin::kTimeoutMax.value()));
  const std::map<std::string, View> views = {{"table", View::kTable}, {"json", View::kJson}};
  for (CLI::App* command : all.all())
    command->add_option("-o,--output", into.options.ask.view, "table or json")
        ->transform(one_of(views))
        ->option_text("table|json");
  return all;
}

std::optional<Result<>> run_operation(const OperationCommands& commands, OperationArguments arguments,
                                      const config::Settings& settings) {
  arguments.options.ask.timeout = Milliseconds(arguments.timeout_ms);
  arguments.filter.since = Milliseconds(arguments.since_ms);
  arguments.expire.expected = arguments.expected;
  const OperationOptions& options = arguments.options;
  const auto id = arguments.id.bytes();
  if (!id) return id.error();
  arguments.expire.id = id.value();
  std::string wrong;
  const std::vector<LetterPlace> places = places_of(arguments.places, wrong);
  if (!wrong.empty()) return invalid(wrong);
  arguments.selection.older_than = Milliseconds(arguments.older_than_ms);
  if (commands.expire->parsed() && commands.expire->count("--state") > 0) {
    arguments.selection.target = arguments.expire.target;
    return expire_all(settings, arguments.selection, options);
  }
  if (commands.reprocess->parsed() && commands.reprocess->count("--state") > 0)
    return reprocess_all(settings, arguments.selection, options);
  if (commands.expire->parsed()) return expire(settings, arguments.expire, options);
  if (commands.dispatch_now->parsed()) return dispatch(settings, arguments.expire, std::nullopt, options);
  if (commands.dispatch_postpone->parsed()) return dispatch(settings, arguments.expire, arguments.until, options);
  if (commands.skip->parsed()) {
    arguments.skip.id = id.value();
    arguments.skip.partition = arguments.expire.partition;
    return skip(settings, arguments.skip, options);
  }
  if (commands.release->parsed())
    return release(settings, {places.front(), arguments.expected, arguments.unknown}, options);
  if (commands.reprocess->parsed()) return reprocess(settings, id.value(), options);
  if (commands.reset->parsed()) return reset(settings, arguments.epoch, options);
  if (commands.floor->parsed()) return raise_version_floor(settings, arguments.floor, options);
  if (commands.pause->parsed()) return pause_or_resume(true, arguments, settings);
  if (commands.resume->parsed()) return resume(arguments, settings);
  if (commands.letters_list->parsed()) return list_dead_letters(settings, arguments.filter, options.ask.view);
  if (commands.letters_show->parsed()) return show_dead_letter(settings, places.front(), options.ask.view);
  if (commands.letters_redrive->parsed()) return redrive_those(arguments, places, settings);
  return std::nullopt;
}

}  // namespace reseq::cli
