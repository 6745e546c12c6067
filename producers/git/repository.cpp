#include "producers/git/repository.h"

#include <cstdlib>
#include <utility>

#include "producers/git/child_process.h"

namespace reseq::git {
namespace {

Error invalid(std::string message) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = std::move(message)};
}

std::string without_line_end(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

Result<Repository> Repository::open(const std::filesystem::path& path, const std::string& revision) {
  Repository repository(path);
  Result<bool> shallow = repository.shallow();
  if (!shallow.ok()) return shallow.error();
  if (shallow.value()) {
    Result<> deepened = repository.deepen();
    if (!deepened.ok()) return deepened.error();
  }
  Result<std::string> commit =
      output_of(repository.command({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"}));
  if (!commit.ok()) return invalid("no commit '" + revision + "' in " + path.string());
  repository.commit_ = without_line_end(std::move(commit).value());
  return repository;
}

Result<std::uint64_t> Repository::place_of(const std::string& revision) const {
  const auto foreign = [&] {
    return invalid("'" + revision + "' is no commit of the first-parent history of " + commit_.substr(0, 12));
  };
  const Result<std::string> commit =
      answer({"rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"});
  if (!commit.ok()) return foreign();
  const Result<std::string> behind = answer({"rev-list", "--first-parent", "--count", commit_, "^" + commit.value()});
  if (!behind.ok()) return behind.error();
  const Result<std::string> there = answer({"rev-parse", "--verify", "--quiet", commit_ + "~" + behind.value()});
  if (!there.ok() || there.value() != commit.value()) return foreign();
  const Result<std::string> place = answer({"rev-list", "--first-parent", "--count", commit.value()});
  if (!place.ok()) return place.error();
  return std::strtoull(place.value().c_str(), nullptr, 10);
}

Result<std::string> Repository::answer(std::vector<std::string> arguments) const {
  Result<std::string> text = output_of(command(std::move(arguments)));
  if (!text.ok()) return text.error();
  return without_line_end(std::move(text).value());
}

std::vector<std::string> Repository::command(std::vector<std::string> arguments) const {
  arguments.insert(arguments.begin(), {"git", "-C", path_.string()});
  return arguments;
}

Result<bool> Repository::shallow() const {
  Result<std::string> answer = output_of(command({"rev-parse", "--is-shallow-repository"}));
  if (!answer.ok()) return answer.error();
  return without_line_end(std::move(answer).value()) != "false";
}

Result<> Repository::deepen() const {
  const std::string refusal =
      path_.string() + " is a shallow clone, its history is cut off: run 'git fetch --unshallow' there";
  Result<std::string> remotes = output_of(command({"remote"}));
  if (!remotes.ok()) return remotes.error();
  if (remotes.value().empty()) return invalid(refusal + " (it has no remote: clone it again)");
  Result<std::string> fetched =
      output_of(command({"fetch", "--unshallow", "--quiet", "--no-write-fetch-head", "--no-auto-maintenance"}));
  if (!fetched.ok()) return invalid(refusal + " (" + fetched.error().message + ")");
  Result<bool> still = shallow();
  if (!still.ok()) return still.error();
  if (still.value()) return invalid(refusal + " (its remote is shallow as well)");
  return Done{};
}

}  // namespace reseq::git
