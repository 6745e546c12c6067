#include "git_fixture.h"

#include <array>
#include <fstream>
#include <stdexcept>

#include "producers/git/child_process.h"

namespace reseq::test {
namespace {

std::string quoted(const std::string& path) {
  std::string text = "\"";
  for (const char c : path) {
    char octal[8];
    std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
    text += octal;
  }
  return text + "\"";
}

std::string run(const std::vector<std::string>& arguments, const std::string& input) {
  auto child = git::ChildProcess::start(arguments, git::ChildProcess::Input::kOurs);
  if (!child.ok()) throw std::runtime_error(child.error().message);
  if (const auto written = child.value().write(input); !written.ok()) throw std::runtime_error(written.error().message);
  child.value().close_input();
  std::string output;
  std::array<char, 65536> part{};
  for (;;) {
    const auto n = child.value().read(part);
    if (!n.ok()) throw std::runtime_error(n.error().message);
    if (n.value() == 0) break;
    output.append(part.data(), n.value());
  }
  if (const auto finished = child.value().finish(); !finished.ok()) throw std::runtime_error(finished.error().message);
  return output;
}

std::vector<std::string> command(const std::filesystem::path& repository, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"git", "-C", repository.string(), "-c", "init.defaultBranch=main", "-c",
                                       "protocol.file.allow=always"});
  return arguments;
}

}  // namespace

History& History::commit(const std::string& branch) {
  text_ += "commit refs/heads/" + branch + "\ncommitter T <t@example.org> 1700000000 +0000\ndata 1\n.\n";
  return *this;
}

History& History::merge(const std::string& branch) {
  text_ += "merge refs/heads/" + branch + "\n";
  return *this;
}

History& History::branch(const std::string& name, const std::string& from) {
  text_ += "reset refs/heads/" + name + "\nfrom refs/heads/" + from + "\n\n";
  return *this;
}

History& History::file(const std::string& path, const std::string& content, const std::string& mode) {
  text_ += "M " + mode + " inline " + quoted(path) + "\ndata " + std::to_string(content.size()) + "\n" + content + "\n";
  return *this;
}

History& History::gitlink(const std::string& path) {
  text_ += "M 160000 1234567890123456789012345678901234567890 " + quoted(path) + "\n";
  return *this;
}

History& History::remove(const std::string& path) {
  text_ += "D " + quoted(path) + "\n";
  return *this;
}

GitFixture::GitFixture() = default;

std::filesystem::path GitFixture::place(const std::string& name) const {
  return std::filesystem::path(folder_.path()) / name;
}

std::filesystem::path GitFixture::make(const History& history, const std::string& name) {
  const std::filesystem::path repository = place(name);
  std::filesystem::remove_all(repository);
  git(folder_.path(), {"init", "--bare", "--quiet", repository.string()});
  run(command(repository, {"fast-import", "--quiet"}), history.text());
  return repository;
}

std::string GitFixture::git(const std::filesystem::path& repository, std::vector<std::string> arguments) {
  return run(command(repository, std::move(arguments)), "");
}

std::unique_ptr<git::GitSource> open_source(const std::filesystem::path& repository, git::GitOptions options,
                                            const std::string& revision) {
  const auto opened = git::Repository::open(repository, revision);
  if (!opened.ok()) throw std::runtime_error(opened.error().message);
  auto source = git::GitSource::open(opened.value(), std::move(options));
  if (!source.ok()) throw std::runtime_error(source.error().message);
  return std::move(source).value();
}

Replayed replay(git::GitSource& source) {
  Replayed result;
  for (;;) {
    auto next = source.next();
    if (!next.ok()) throw std::runtime_error(next.error().message);
    if (!next.value().has_value()) break;
    if (const auto* unusable = std::get_if<sending::Unusable>(&*next.value())) {
      result.unusable.push_back(source.place() + ": " + unusable->reason);
      continue;
    }
    auto& change = std::get<tagging::Change>(*next.value());
    if (change.op == Op::kDelete) {
      result.removed += static_cast<int>(result.documents.erase(change.id));
    } else if (result.documents.insert_or_assign(change.id, *change.payload).second) {
      ++result.added;
    } else {
      ++result.modified;
    }
    result.changes.push_back(std::move(change));
  }
  result.gitlinks = source.tallies().at(0).count;
  return result;
}

Replayed replay(const std::filesystem::path& repository, git::GitOptions options) {
  return replay(*open_source(repository, std::move(options)));
}

Documents blobs_of_head(const std::filesystem::path& repository) {
  const std::string listing = GitFixture::git(repository, {"ls-tree", "-r", "-z", "--full-tree", "HEAD"});
  Documents blobs;
  for (std::size_t at = 0; at < listing.size();) {
    const std::size_t tab = listing.find('\t', at);
    const std::size_t end = listing.find('\0', tab);
    const std::string head = listing.substr(at, tab - at);  // mode type object
    if (head.find(" blob ") != std::string::npos)
      blobs[listing.substr(tab + 1, end - tab - 1)] = head.substr(head.rfind(' ') + 1);
    at = end + 1;
  }
  return blobs;
}

Documents object_names(const Documents& documents, const std::filesystem::path& repository) {
  const TempDir folder;
  std::string paths;
  for (const auto& [path, content] : documents) {
    const std::string file = folder.path() + "/" + std::to_string(std::hash<std::string>()(path));
    std::ofstream(file, std::ios::binary) << content;
    paths += file + "\n";
  }
  const std::string names = run(command(repository, {"hash-object", "--no-filters", "--stdin-paths"}), paths);
  Documents result;
  std::size_t at = 0;
  for (const auto& [path, content] : documents) {
    const std::size_t end = names.find('\n', at);
    result[path] = names.substr(at, end - at);
    at = end + 1;
  }
  return result;
}

}  // namespace reseq::test
