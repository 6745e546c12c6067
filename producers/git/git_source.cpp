#include "producers/git/git_source.h"

#include <utility>

namespace reseq::git {
namespace {

// Blobs asked for before they are needed, so that git reads while we send.
constexpr std::size_t kAhead = 64;
static_assert(kAhead <= BlobReader::kAsksMax);

constexpr std::size_t kPathBytesShown = 200;

bool has_content(const Entry& entry) {
  return entry.kind == EntryKind::kBlob && entry.path.size() <= kMaxIdBytes;
}

// A path for a person: what could steer a terminal is written as \xNN.
std::string shown(std::string_view path) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  for (const char c : path.substr(0, kPathBytesShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      text += c;
    } else {
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  if (path.size() > kPathBytesShown) text += "...";
  return text;
}

}  // namespace

Result<std::unique_ptr<GitSource>> GitSource::open(const Repository& repository, GitOptions options) {
  Result<HistoryWalk> counting = HistoryWalk::start(repository);
  if (!counting.ok()) return counting.error();
  std::uint64_t items = 0;
  for (;;) {
    const Result<std::optional<Entry>> entry = counting.value().next();
    if (!entry.ok()) return entry.error();
    if (!entry.value().has_value()) break;
    if (entry.value()->kind != EntryKind::kGitlink && entry.value()->commit_ordinal > options.after) ++items;
  }
  Result<HistoryWalk> walk = HistoryWalk::start(repository);
  if (!walk.ok()) return walk.error();
  Result<BlobReader> blobs = BlobReader::start(repository);
  if (!blobs.ok()) return blobs.error();
  std::unique_ptr<GitSource> source(
      new GitSource(std::move(options), std::move(walk).value(), std::move(blobs).value()));
  source->items_ = items;
  return source;
}

GitSource::GitSource(GitOptions options, HistoryWalk walk, BlobReader blobs)
    : options_(std::move(options)), walk_(std::move(walk)), blobs_(std::move(blobs)) {}

std::string GitSource::stream() const {
  std::string name = "git";
  if (options_.epoch.has_value()) name += " epoch=" + std::to_string(options_.epoch->value());
  for (const std::string& target : options_.targets) name += " target=" + target;
  if (options_.after > 0) name += " after=" + std::to_string(options_.after);
  return name;
}

Result<> GitSource::resume_after(const sending::Mark& mark) {
  while (position_ < mark.position) {
    Result<std::optional<Entry>> entry = next_document();
    if (!entry.ok()) return entry.error();
    if (!entry.value().has_value()) break;
    last_ = {.entry = std::move(*entry.value()), .commit = walk_.commit()};
    ++position_;
  }
  begun_at_ = position_;
  if (this->mark() == mark) return Done{};
  return Error{.what_to_do = ErrorClass::kInvalid,
               .code = 0,
               .message =
                   "the history was rewritten since the state file was saved: send it again with a higher --epoch"
                   " and another state file"};
}

Result<std::optional<sending::Item>> GitSource::next() {
  Result<> read = read_ahead();
  if (!read.ok()) return read.error();
  if (ahead_.empty()) return std::optional<sending::Item>();
  last_ = std::move(ahead_.front());
  ahead_.pop_front();
  ++position_;
  Result<sending::Item> made = item(last_.entry);
  if (!made.ok()) return made.error();
  return std::optional(std::move(made).value());
}

sending::Mark GitSource::mark() const {
  return {.position = position_, .token = last_.commit};
}

std::string GitSource::place() const {
  return "commit " + std::to_string(last_.entry.commit_ordinal) + " (" + last_.commit.substr(0, 12) + ") " +
         shown(last_.entry.path);
}

std::vector<sending::Tally> GitSource::tallies() const {
  return {{.name = "submodule changes", .count = gitlinks_}};
}

Result<std::optional<Entry>> GitSource::next_document() {
  for (;;) {
    Result<std::optional<Entry>> entry = walk_.next();
    if (!entry.ok() || !entry.value().has_value()) return entry;
    if (entry.value()->commit_ordinal <= options_.after) continue;
    if (entry.value()->kind != EntryKind::kGitlink) return entry;
    ++gitlinks_;
  }
}

Result<> GitSource::read_ahead() {
  while (ahead_.size() < kAhead) {
    Result<std::optional<Entry>> entry = next_document();
    if (!entry.ok()) return entry.error();
    if (!entry.value().has_value()) break;
    if (has_content(*entry.value())) {
      Result<> asked = blobs_.ask(entry.value()->blob);
      if (!asked.ok()) return asked;
    }
    ahead_.push_back({.entry = std::move(*entry.value()), .commit = walk_.commit()});
  }
  return Done{};
}

Result<sending::Item> GitSource::item(const Entry& entry) {
  if (entry.path.size() > kMaxIdBytes)
    return sending::Item(sending::Unusable{"the path has " + std::to_string(entry.path.size()) + " bytes, at most " +
                                           std::to_string(kMaxIdBytes) + " are sent"});
  tagging::Change change{.id = entry.path,
                         .sequence = entry.commit_ordinal,
                         .op = entry.kind == EntryKind::kRemoved ? Op::kDelete : Op::kUpsert,
                         .payload = std::nullopt,
                         .targets = options_.targets,
                         .epoch = options_.epoch};
  if (entry.kind == EntryKind::kRemoved) return sending::Item(std::move(change));
  Result<Blob> blob = blobs_.answer(options_.blob_bytes_max);
  if (!blob.ok()) return blob.error();
  if (!blob.value().content.has_value())
    return sending::Item(sending::Unusable{"the blob has " + std::to_string(blob.value().bytes) + " bytes, at most " +
                                           std::to_string(options_.blob_bytes_max) + " are sent"});
  change.payload = std::move(blob.value().content);
  return sending::Item(std::move(change));
}

}  // namespace reseq::git
