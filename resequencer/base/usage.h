// Usage: how every small program takes its command line, and with which code it ends. Its author needs CLI11, nobody
// else who uses base/.
// Thread rule: plain functions, for main().
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <sysexits.h>

#include "base/result.h"

namespace reseq {

// Nothing: the program goes on with its arguments. Otherwise its exit code, when it has said what there is to say: the
// help that was wanted (0), or on stderr what is wrong with its arguments (EX_USAGE).
[[nodiscard]] inline std::optional<int> parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& wanted) {
    return app.exit(wanted);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "%s: %s (--help shows the options)\n", app.get_name().c_str(), error.what());
    return EX_USAGE;
  }
  return std::nullopt;
}

// What a small program ends with: EX_CONFIG where only a person helps, EX_SOFTWARE where starting again does.
[[nodiscard]] inline int exit_code_of(const Error& error) {
  return error.what_to_do == ErrorClass::kInvalid ? EX_CONFIG : EX_SOFTWARE;
}

}  // namespace reseq
