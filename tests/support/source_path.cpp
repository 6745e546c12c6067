#include "tests/support/source_path.h"

#include <string>
#include <string_view>

namespace reseq::test {

std::string source_dir() {
  return RESEQ_SOURCE_DIR;
}

std::string source_path(std::string_view file) {
  return source_dir() + "/" + std::string(file);
}

}  // namespace reseq::test
