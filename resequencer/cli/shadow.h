// Shadow mode from the command line: `observe`, which needs no configuration file, and `report`.
// Thread rule: main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "config/settings.h"

namespace reseq::cli {

class Shadow {
 public:
  // REQUIRES: app outlives this.
  explicit Shadow(CLI::App& app);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  // Does what was asked. Nothing: it was neither of the two.
  [[nodiscard]] std::optional<Result<>> run();
  // `run` with mode = "observe".
  [[nodiscard]] static Result<> observe(config::Settings settings);

 private:
  struct Options;
  void declare_places();
  [[nodiscard]] Result<config::Settings> settings() const;

  std::unique_ptr<Options> options_;
  CLI::App* observe_ = nullptr;
  CLI::App* report_ = nullptr;
};

}  // namespace reseq::cli
