#include "demo/compare/git_tree.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <unistd.h>

#include "demo/process/child_process.h"

namespace reseq::demo {
namespace {

Error unexpected(const std::string& what) {
  return {.what_to_do = ErrorClass::kInvalid, .message = "git: " + what};
}

// Without the newline that git ends its answers with.
std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Result<std::string> resolve_commit(const std::string& repository, const std::string& revision) {
  Result<std::string> id =
      output_of({"git", "-C", repository, "rev-parse", "--verify", "--end-of-options", revision + "^{commit}"});
  if (!id) return id.error();
  return trimmed(std::move(id).value());
}

Result<std::uint64_t> count_commits(const std::string& repository, const std::string& commit) {
  Result<std::string> answer = output_of({"git", "-C", repository, "rev-list", "--first-parent", "--count", commit});
  if (!answer) return answer.error();
  std::uint64_t count = 0;
  const std::string text = trimmed(std::move(answer).value());
  if (std::from_chars(text.data(), text.data() + text.size(), count).ptr != text.data() + text.size() || count == 0)
    return unexpected("rev-list answered `" + text + "`");
  return count;
}

Result<GitTree> read_tree(const std::string& repository, const std::string& commit) {
  Result<std::string> listing = output_of({"git", "-C", repository, "ls-tree", "-r", "-z", "--full-tree", commit});
  if (!listing) return listing.error();
  return parse_tree(listing.value());
}

Result<Snapshot> read_snapshot(const std::string& repository, const std::string& revision) {
  Result<std::string> commit = resolve_commit(repository, revision);
  if (!commit) return commit.error();
  Result<GitTree> tree = read_tree(repository, commit.value());
  if (!tree) return tree.error();
  return Snapshot{std::move(commit).value(), std::move(tree).value()};
}

Result<GitTree> parse_tree(std::string_view listing) {
  GitTree tree;
  while (!listing.empty()) {
    const std::size_t end = listing.find('\0');
    if (end == std::string_view::npos) return unexpected("a listing that ends within an entry");
    const std::string_view entry = listing.substr(0, end);
    listing.remove_prefix(end + 1);
    // mode SP type SP object TAB path
    const std::size_t type = entry.find(' ');
    const std::size_t object = type == std::string_view::npos ? type : entry.find(' ', type + 1);
    const std::size_t path = object == std::string_view::npos ? object : entry.find('\t', object + 1);
    if (path == std::string_view::npos) return unexpected("a listing with a malformed entry");
    const std::string_view kind = entry.substr(type + 1, object - type - 1);
    if (kind == "commit")
      ++tree.gitlinks;
    else if (kind == "blob")
      tree.entries.push_back(
          {std::string(entry.substr(path + 1)), std::string(entry.substr(object + 1, path - object - 1))});
    else
      return unexpected("an entry that is neither blob nor commit");
  }
  return tree;
}

Result<BlobReader> BlobReader::open(const std::string& repository, const GitTree& tree,
                                    const std::string& scratch_folder) {
  // The names go through a file: with two pipes both sides could wait for each other.
  const std::string names = scratch_folder + "/blob-names";
  {
    std::ofstream file(names, std::ios::trunc);
    for (const TreeEntry& entry : tree.entries) file << entry.blob << '\n';
    if (!file.flush()) return unexpected("cannot write " + names);
  }
  const FileDescriptor input(::open(names.c_str(), O_RDONLY | O_CLOEXEC));
  std::remove(names.c_str());
  if (input.number() < 0) return unexpected(std::strerror(errno));
  Result<Pipe> output = open_pipe();
  if (!output) return output.error();
  Result<Child> git =
      Child::start({"git", "-C", repository, "cat-file", "--batch"},
                   {.in = input.number(), .out = output.value().writing.number(), .err = STDERR_FILENO});
  if (!git) return git.error();
  return BlobReader(std::move(git).value(), std::move(output.value().reading));
}

Result<> BlobReader::fill() {
  buffer_.erase(0, read_);
  read_ = 0;
  char chunk[65536];
  ssize_t got = 0;
  do {
    got = ::read(output_.number(), chunk, sizeof chunk);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return unexpected("cat-file ended early");
  buffer_.append(chunk, static_cast<std::size_t>(got));
  return Done{};
}

Result<std::string> BlobReader::take_line() {
  while (true) {
    const std::size_t end = buffer_.find('\n', read_);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(read_, end - read_);
      read_ = end + 1;
      return line;
    }
    if (Result<> more = fill(); !more) return more.error();
  }
}

Result<std::string> BlobReader::take(std::size_t bytes) {
  while (buffer_.size() - read_ < bytes)
    if (Result<> more = fill(); !more) return more.error();
  std::string taken = buffer_.substr(read_, bytes);
  read_ += bytes;
  return taken;
}

Result<std::string> BlobReader::next(const TreeEntry& expected) {
  // object SP type SP size LF content LF
  Result<std::string> line = take_line();
  if (!line) return line;
  const std::string start = expected.blob + " blob ";
  std::size_t bytes = 0;
  const char* end = line.value().data() + line.value().size();
  if (!line.value().starts_with(start) || std::from_chars(line.value().data() + start.size(), end, bytes).ptr != end)
    return unexpected("cat-file answered `" + line.value() + "` for " + expected.blob);
  Result<std::string> content = take(bytes + 1);
  if (!content) return content;
  content.value().pop_back();
  return content;
}

}  // namespace reseq::demo
