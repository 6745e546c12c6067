// The files of the page, as they are served: where, as what, and their bytes. They are part of the program, so that the
// page works on a host that reaches nothing else.
// Thread rule: constant.
#pragma once

#include <span>
#include <string_view>

namespace reseq::page {

struct File {
  std::string_view path;
  std::string_view content_type;
  std::string_view body;
};

[[nodiscard]] std::span<const File> files();

}  // namespace reseq::page
