// Browser: a real Chromium without a window that shows one page, led over the DevTools protocol (browser.py).
// Thread rule: one thread.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/process.h"

namespace reseq::test {

class Browser {
 public:
  // Throws when there is none: install it with script/deps.
  Browser();

  void open(const std::string& url);
  // The value of an expression in the page. Throws with what the page says when it fails.
  nlohmann::json evaluate(const std::string& expression);
  // Text of the first element that a CSS selector finds; empty: there is none.
  std::string text(const std::string& selector);
  // Whether the condition became true in time.
  bool becomes(const std::string& condition, int limit_ms = 60'000);

  void resize(int width, int height);
  void prefer(const std::string& colour_scheme);
  // The whole page, or what the window shows of it, into the folder of screenshots of this build.
  enum class Shot : bool { kWindow, kPage };
  void screenshot(const std::string& name, Shot shot = Shot::kPage);

  // Addresses of all requests that the page has made.
  std::vector<std::string> requested();
  // Errors and lines of the console.
  std::vector<std::string> complaints();

 private:
  nlohmann::json call(const std::string& method, const nlohmann::json& parameters);

  TempDir folder_;
  std::unique_ptr<Process> process_;
  int port_ = 0;
};

}  // namespace reseq::test
