// Usage: how every small program takes its command line. Its author needs CLI11, nobody else who uses base/.
// Thread rule: a plain function, for main().
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <sysexits.h>

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

}  // namespace reseq
