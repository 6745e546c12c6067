#include "producers/git/blob_reader.h"

#include <charconv>
#include <string_view>
#include <utility>

namespace reseq::git {
namespace {

Error broken_blob(const std::string& what) {
  return Error{.what_to_do = ErrorClass::kInvalid, .code = 0, .message = "git cat-file: " + what};
}

// Size of a blob out of "object blob size".
std::optional<std::uint64_t> blob_size(std::string_view header) {
  constexpr std::string_view kType = " blob ";
  const std::size_t type = header.find(kType);
  if (type == std::string_view::npos) return std::nullopt;
  const std::string_view digits = header.substr(type + kType.size());
  std::uint64_t size = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  if (failure != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return size;
}

}  // namespace

Result<BlobReader> BlobReader::start(const Repository& repository) {
  Result<ChildProcess> child =
      ChildProcess::start(repository.command({"cat-file", "--batch"}), ChildProcess::Input::kOurs);
  if (!child.ok()) return child.error();
  return BlobReader(std::move(child).value());
}

BlobReader::BlobReader(ChildProcess child)
    : child_(std::make_unique<ChildProcess>(std::move(child))), output_(*child_) {}

Result<> BlobReader::ask(const std::string& object) {
  return child_->write(object + "\n");
}

Result<Blob> BlobReader::answer(std::uint64_t bytes_max) {
  Result<std::optional<std::string_view>> header = output_.until('\n');
  if (!header.ok()) return header.error();
  if (!header.value().has_value()) {
    Result<> finished = child_->finish();
    return finished.ok() ? broken_blob("ended early") : finished.error();
  }
  const std::optional<std::uint64_t> size = blob_size(*header.value());
  if (!size.has_value()) return broken_blob("no blob: " + std::string(header.value()->substr(0, 100)));
  Blob blob{.bytes = *size, .content = std::nullopt};
  if (*size <= bytes_max) {
    blob.content.emplace();
    blob.content->reserve(*size);
  }
  Result<> read = output_.exactly(*size, blob.content.has_value() ? &*blob.content : nullptr);
  if (!read.ok()) return read.error();
  Result<> line_end = output_.exactly(1, nullptr);
  if (!line_end.ok()) return line_end.error();
  return blob;
}

}  // namespace reseq::git
