#include "producers/sending/resume_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

namespace reseq::sending {
namespace {

constexpr int kFormat = 1;

Error failed(const std::string& what, const std::filesystem::path& path) {
  return Error{.what_to_do = ErrorClass::kFatal,
               .code = errno,
               .message = what + " " + path.string() + ": " + std::strerror(errno)};
}

Error not_ours(const std::filesystem::path& path) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = path.string() + " is no resume file"};
}

// Closes on the way out; every error that matters was asked for by fsync before.
Result<> write_and_sync(const std::filesystem::path& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return failed("cannot write", path);
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = ::write(file, text.data() + written, text.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      Error error = failed("cannot write", path);
      ::close(file);
      return error;
    }
    written += static_cast<std::size_t>(n);
  }
  if (::fsync(file) != 0) {
    Error error = failed("cannot sync", path);
    ::close(file);
    return error;
  }
  ::close(file);
  return Done{};
}

Result<> sync_folder(const std::filesystem::path& folder) {
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return failed("cannot open", folder);
  const bool synced = ::fsync(file) == 0;
  Error error = failed("cannot sync", folder);
  ::close(file);
  if (!synced) return error;
  return Done{};
}

}  // namespace

Result<std::optional<ResumeState>> ResumeFile::load() const {
  std::error_code none;
  if (!std::filesystem::exists(path_, none)) return std::optional<ResumeState>();
  std::ifstream file(path_, std::ios::binary);
  if (!file) return failed("cannot read", path_);
  std::ostringstream text;
  text << file.rdbuf();
  const nlohmann::json json = nlohmann::json::parse(text.str(), nullptr, false);
  if (!json.is_object() || json.value("format", nlohmann::json()) != kFormat) return not_ours(path_);
  const auto text_of = [&json](const char* name) { return json.value(name, nlohmann::json()); };
  const nlohmann::json stream = text_of("stream");
  const nlohmann::json destination = text_of("destination");
  const nlohmann::json position = text_of("position");
  const nlohmann::json token = text_of("token");
  if (!stream.is_string() || !destination.is_string() || !position.is_number_unsigned() || !token.is_string())
    return not_ours(path_);
  return std::optional(ResumeState{
      .stream = stream.get<std::string>(),
      .destination = destination.get<std::string>(),
      .mark = {.position = position.get<std::uint64_t>(), .token = token.get<std::string>()},
  });
}

Result<> ResumeFile::save(const ResumeState& state) const {
  const nlohmann::json json = {{"format", kFormat},
                               {"stream", state.stream},
                               {"destination", state.destination},
                               {"position", state.mark.position},
                               {"token", state.mark.token}};
  std::filesystem::path beside = path_;
  beside += ".new";
  // Foreign bytes in a name become U+FFFD instead of an exception.
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  Result<> written = write_and_sync(beside, text);
  if (!written.ok()) return written;
  if (::rename(beside.c_str(), path_.c_str()) != 0) return failed("cannot replace", path_);
  return sync_folder(path_.has_parent_path() ? path_.parent_path() : std::filesystem::path("."));
}

}  // namespace reseq::sending
