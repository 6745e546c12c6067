#include "producers/command_line/produce.h"

#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <sysexits.h>
#include <unistd.h>
#include <utility>

#include "base/log.h"
#include "producers/git/git_source.h"
#include "producers/ndjson/ndjson_source.h"
#include "producers/sending/silent_sink.h"
#include "producers/topic/group_lag.h"
#include "producers/topic/topic_sink.h"

namespace reseq::command_line {
namespace {

using SourcePointer = std::unique_ptr<sending::ChangeSource>;

// Room for key and headers beside the largest payload.
constexpr std::uint64_t kRecordBytesBesidePayload = std::uint64_t{64} << 10;

template <typename Source>
Result<SourcePointer> widened(Result<std::unique_ptr<Source>> source) {
  if (!source.ok()) return source.error();
  return SourcePointer(std::move(source).value());
}

struct Opened {
  SourcePointer source;
  const load::LoadSource* load = nullptr;  // the same, when it is one
  std::uint64_t payload_bytes_max = 0;     // 0: not known
  sending::OnUnusable on_unusable = sending::OnUnusable::kSkip;
};

Result<Opened> open_git(const Arguments& arguments, const GitArguments& git) {
  if (arguments.sequence_kind == SequenceKind::kLsn || arguments.sequence_kind == SequenceKind::kText)
    return Error{.what_to_do = ErrorClass::kInvalid,
                 .code = EX_USAGE,
                 .message = "a git history is numbered: it needs --sequence-kind u64"};
  if (!arguments.quiet && ::isatty(STDERR_FILENO) == 1) std::fputs("reading the history ...\n", stderr);
  Result<git::Repository> repository = git::Repository::open(git.repository, git.revision);
  if (!repository.ok()) return repository.error();
  const Result<std::uint64_t> after = git.after.empty() ? 0 : repository.value().place_of(git.after);
  if (!after.ok()) return after.error();
  Result<SourcePointer> source = widened(git::GitSource::open(repository.value(), {.blob_bytes_max = git.blob_bytes_max,
                                                                                   .targets = arguments.targets,
                                                                                   .epoch = arguments.epoch,
                                                                                   .after = after.value()}));
  if (!source.ok()) return source.error();
  return Opened{.source = std::move(source).value(), .payload_bytes_max = git.blob_bytes_max};
}

Result<Opened> open_ndjson(const Arguments& arguments, const NdjsonArguments& ndjson) {
  Result<SourcePointer> source =
      widened(ndjson::NdjsonSource::open(ndjson.path, {.targets = arguments.targets, .epoch = arguments.epoch}));
  if (!source.ok()) return source.error();
  return Opened{.source = std::move(source).value(), .on_unusable = ndjson.on_error};
}

Result<Opened> open_load(const LoadArguments& load) {
  Result<std::unique_ptr<load::LoadSource>> source = load::LoadSource::open(load.options);
  if (!source.ok()) return source.error();
  const load::LoadSource* address = source.value().get();
  return Opened{.source = std::move(source).value(),
                .load = address,
                .payload_bytes_max = load.options.payload_bytes_max,
                .on_unusable = sending::OnUnusable::kStop};
}

Result<Opened> open_source(const Arguments& arguments) {
  if (const auto* git = std::get_if<GitArguments>(&arguments.source)) return open_git(arguments, *git);
  if (const auto* ndjson = std::get_if<NdjsonArguments>(&arguments.source)) return open_ndjson(arguments, *ndjson);
  return open_load(std::get<LoadArguments>(arguments.source));
}

topic::TopicSinkOptions sink_options(const Arguments& arguments) {
  return {.bootstrap_servers = arguments.bootstrap_servers,
          .topic = arguments.topic,
          .properties = arguments.properties,
          .partitioner = arguments.partitioner};
}

// Says when the followed group is too far behind; nothing when none is followed.
Result<std::function<bool()>> open_hold(const Arguments& arguments) {
  if (arguments.follow_group.empty() || arguments.dry_run) return std::function<bool()>();
  Result<topic::GroupLag> lag =
      topic::GroupLag::open(sink_options(arguments), arguments.follow_group, arguments.lag_max);
  if (!lag.ok()) return lag.error();
  return std::function<bool()>(
      [shared = std::make_shared<topic::GroupLag>(std::move(lag).value())] { return shared->behind(); });
}

Result<std::unique_ptr<tagging::RequestSink>> open_sink(const Arguments& arguments, std::uint64_t payload_bytes_max) {
  if (arguments.dry_run) return std::unique_ptr<tagging::RequestSink>(std::make_unique<sending::SilentSink>());
  topic::TopicSinkOptions options = sink_options(arguments);
  if (payload_bytes_max != 0) options.record_bytes_max = payload_bytes_max + kRecordBytesBesidePayload;
  return topic::open_topic_sink(options);
}

int fail(int exit_code, const std::string& message) {
  std::fprintf(stderr, "reseq-produce: %s\n", log::one_line(message).c_str());
  return exit_code;
}

int exit_code_of(const Error& error) {
  switch (error.what_to_do) {
    case ErrorClass::kInvalid:
      return EX_DATAERR;
    case ErrorClass::kRetriable:
    case ErrorClass::kTimeout:
      return EX_TEMPFAIL;
    default:
      return EX_UNAVAILABLE;
  }
}

// False when the file cannot be written.
bool write_oracle(const load::LoadSource& source, std::uint64_t documents, const std::filesystem::path& path) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  for (std::uint64_t document = 0; document < documents; ++document)
    file << load::oracle_line(source.final_state(document)) << '\n';
  file.close();
  return file.good();
}

void print_summary(const Arguments& arguments, const sending::SendReport& report, const sending::ChangeSource& source) {
  std::fprintf(stderr, "reseq-produce: %llu records %s, %llu skipped", static_cast<unsigned long long>(report.sent),
               arguments.dry_run ? "would be sent" : "acknowledged", static_cast<unsigned long long>(report.skipped));
  for (const sending::Tally& tally : source.tallies())
    if (tally.count != 0)
      std::fprintf(stderr, ", %llu %.*s", static_cast<unsigned long long>(tally.count),
                   static_cast<int>(tally.name.size()), tally.name.data());
  std::fputs(report.stopped ? ", stopped before the end\n" : "\n", stderr);
}

}  // namespace

int produce(const Arguments& arguments, const std::atomic<bool>& stop) {
  Result<Opened> opened = open_source(arguments);
  if (!opened.ok()) return fail(opened.error().code == EX_USAGE ? EX_USAGE : EX_NOINPUT, opened.error().message);
  sending::ChangeSource& source = *opened.value().source;

  Result<std::unique_ptr<tagging::RequestSink>> sink = open_sink(arguments, opened.value().payload_bytes_max);
  if (!sink.ok())
    return fail(sink.error().what_to_do == ErrorClass::kInvalid ? EX_CONFIG : EX_UNAVAILABLE, sink.error().message);
  Result<std::function<bool()>> hold = open_hold(arguments);
  if (!hold.ok()) return fail(EX_UNAVAILABLE, hold.error().message);
  const bool bar = !arguments.quiet && ::isatty(STDERR_FILENO) == 1;
  Result<sending::ProgressReport> progress = sending::ProgressReport::open(arguments.progress_file, bar);
  if (!progress.ok()) return fail(EX_CANTCREAT, progress.error().message);

  std::optional<sending::ResumeFile> state;
  if (arguments.state_file.has_value() && !arguments.dry_run) state.emplace(*arguments.state_file);
  const tagging::Tagger tagger(arguments.sequence_kind, arguments.turn);
  sending::Sender sender(source, tagger, *sink.value(),
                         {.on_unusable = opened.value().on_unusable,
                          .records_per_second = arguments.dry_run ? 0 : arguments.records_per_second,
                          .hold = std::move(hold).value(),
                          .checkpoint_interval = arguments.checkpoint_interval,
                          .resume_file = state.has_value() ? &*state : nullptr,
                          .destination = arguments.topic});
  const Result<> resumed = sender.resume();
  if (!resumed.ok()) return fail(EX_DATAERR, resumed.error().message);

  const auto complain = [&progress](const std::string& place, const std::string& reason) {
    progress.value().clear();
    std::fprintf(stderr, "reseq-produce: skipped %s\n", log::one_line(place + ": " + reason).c_str());
  };
  const Result<sending::SendReport> report = sender.run(progress.value(), complain, stop);
  progress.value().clear();
  if (!report.ok()) return fail(exit_code_of(report.error()), report.error().message);
  print_summary(arguments, report.value(), source);
  if (report.value().stopped) return EX_TEMPFAIL;
  const auto* load = std::get_if<LoadArguments>(&arguments.source);
  if (load != nullptr && load->oracle.has_value() &&
      !write_oracle(*opened.value().load, load->options.documents, *load->oracle))
    return fail(EX_CANTCREAT, "cannot write " + load->oracle->string());
  return EX_OK;
}

}  // namespace reseq::command_line
