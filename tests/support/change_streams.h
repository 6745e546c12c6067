// Real change streams for tests, as git bundles: in RESEQ_DATA_DIR, or in ../shared/data beside the source tree.
// Thread rule: one thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "tests/support/source_path.h"

namespace reseq::test {

// The file `name`, if one of the places has it.
[[nodiscard]] std::optional<std::filesystem::path> find_change_stream(const std::string& name,
                                                                      const std::filesystem::path& source_dir);

// True where a missing file is a failure and not a reason to skip: in CI.
[[nodiscard]] bool change_streams_are_required();

}  // namespace reseq::test

// First statement of a test that needs `name`: binds `variable` to its path, or skips with a reason, or fails in CI.
#define RESEQ_CHANGE_STREAM(variable, name)                                                                \
  const auto variable##_found = ::reseq::test::find_change_stream(name, ::reseq::test::source_dir());      \
  if (!variable##_found.has_value()) {                                                                     \
    if (::reseq::test::change_streams_are_required()) FAIL() << name << " is missing: set RESEQ_DATA_DIR"; \
    GTEST_SKIP() << name << " is neither in RESEQ_DATA_DIR nor in ../shared/data";                         \
  }                                                                                                        \
  const std::filesystem::path& variable = *variable##_found
