// What a program serves over HTTP on this machine, in one call.
// Thread rule: plain functions.
#pragma once

#include <httplib.h>
#include <string>
#include <utility>

namespace reseq::test {

// Status and body; 0 when nobody answers.
[[nodiscard]] inline std::pair<int, std::string> get(int port, const std::string& path) {
  const auto got = httplib::Client("127.0.0.1", port).Get(path);
  return got ? std::pair(got->status, got->body) : std::pair(0, std::string());
}

}  // namespace reseq::test
