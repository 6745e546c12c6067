// Looking: somebody with a browser before the page of one of three instances.
// Thread rule: one thread.
#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "tests/admin/office.h"
#include "tests/page/browser.h"

namespace reseq::test {

inline constexpr int kWide = 1280;
inline constexpr int kNarrow = 390;
inline constexpr int kHeight = 900;

class Looking : public testing::Test {
 protected:
  using json = nlohmann::json;

  // REQUIRES: office_
  static void start_browser() {
    browser_ = std::make_unique<Browser>();
    browser_->resize(kWide, kHeight);
    browser_->prefer("light");
    open(1);
  }
  static void TearDownTestSuite() {
    browser_.reset();
    office_.reset();
  }

  static Office& office() { return *office_; }
  static Browser& browser() { return *browser_; }
  static std::string address(int instance) {
    return "http://127.0.0.1:" + std::to_string(office_->http_port(instance));
  }
  static void open(int instance) {
    browser_->open(address(instance) + "/");
    if (!browser_->becomes("document.querySelector('#stream')?.textContent === 'live'"))
      throw std::runtime_error("the page does not become live: " + browser_->text("body"));
  }
  // The rows of a table: objects of its cells by the names of columns.
  static json rows(const std::string& table) {
    return browser_->evaluate("[...document.querySelectorAll('#" + table +
                              " tbody tr')].map((row) => Object.fromEntries([...row.cells].map((cell) => "
                              "[cell.dataset.name, cell.textContent])))");
  }
  // Types an id and waits for what is found.
  static std::string look_up(const std::string& id, const std::string& kind = "text") {
    browser_->evaluate("(() => { const form = document.querySelector('#search'); form.elements.id.value = " +
                       json(id).dump() + "; form.elements.kind.value = '" + kind +
                       "'; document.querySelector('#document').replaceChildren(); form.requestSubmit(); })()");
    EXPECT_TRUE(browser_->becomes("document.querySelector('#document h2')")) << browser_->text("#document");
    return browser_->text("#document");
  }
  static json page_size() {
    return browser_->evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]");
  }

  static inline std::unique_ptr<Office> office_;
  static inline std::unique_ptr<Browser> browser_;
};

}  // namespace reseq::test
