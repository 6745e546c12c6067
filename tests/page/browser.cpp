#include "tests/page/browser.h"

#include <filesystem>
#include <fstream>
#include <httplib.h>
#include <stdexcept>

#include "codec/base64.h"
#include "tests/e2e/patience.h"
#include "tests/support/source_path.h"

namespace reseq::test {

namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kStartLimit{60'000};
constexpr time_t kCallSeconds = 60;

}  // namespace

Browser::Browser() {
  const std::string output = folder_.path() + "/browser.log";
  process_ = std::make_unique<Process>(
      std::vector<std::string>{"/usr/bin/python3", source_path("tests/page/browser.py"), folder_.path() + "/chromium"},
      output);
  wait_until(kStartLimit, [&] {
    std::ifstream told(output);
    return static_cast<bool>(told >> port_) || !process_->running();
  });
  if (port_ == 0) throw std::runtime_error("no browser: " + process_->tail());
}

json Browser::call(const std::string& method, const json& parameters) {
  httplib::Client client("127.0.0.1", port_);
  client.set_read_timeout(kCallSeconds);
  const auto got = client.Post("/" + method, parameters.dump(), "application/json");
  if (!got) throw std::runtime_error(method + " is not answered: " + process_->tail());
  return json::parse(got->body);
}

void Browser::open(const std::string& url) {
  const json opened = call("Page.navigate", {{"url", url}});
  if (opened.contains("errorText")) throw std::runtime_error(url + ": " + opened.dump());
}

json Browser::evaluate(const std::string& expression) {
  const json result =
      call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
  if (!result.contains("result") || result.contains("exceptionDetails"))
    throw std::runtime_error(expression + ": " + result.dump());
  return result["result"].value("value", json());
}

std::string Browser::text(const std::string& selector) {
  const json found = evaluate("document.querySelector(" + json(selector).dump() + ")?.textContent ?? ''");
  return found.get<std::string>();
}

// A page that is just being loaded lacks what is asked for: not yet.
bool Browser::becomes(const std::string& condition, int limit_ms) {
  const std::string asked = "(() => { try { return Boolean(" + condition + "); } catch { return false; } })()";
  return wait_until(std::chrono::milliseconds(limit_ms), [&] { return evaluate(asked) == true; });
}

void Browser::resize(int width, int height) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", width < 600}});
}

void Browser::prefer(const std::string& colour_scheme) {
  call("Emulation.setEmulatedMedia",
       {{"features", json::array({{{"name", "prefers-color-scheme"}, {"value", colour_scheme}}})}});
}

void Browser::screenshot(const std::string& name, Shot shot) {
  const json taken =
      call("Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", shot == Shot::kPage}});
  const std::string folder = program("screenshots");
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/" + name + ".png", std::ios::binary)
      << codec::parse_base64(taken.value("data", "")).value_or("");
}

std::vector<std::string> Browser::requested() {
  std::vector<std::string> urls;
  for (const json& event : call("events", json::object()))
    if (event["method"] == "Network.requestWillBeSent")
      urls.push_back(event["params"]["request"]["url"]);
    else if (event["method"] == "Network.webSocketCreated")
      urls.push_back(event["params"]["url"]);
  return urls;
}

std::vector<std::string> Browser::complaints() {
  std::vector<std::string> lines;
  for (const json& event : call("events", json::object()))
    if (event["method"] != "Network.requestWillBeSent") lines.push_back(event.dump());
  return lines;
}

}  // namespace reseq::test
