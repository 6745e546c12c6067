#include "page/files.h"

#include <array>

namespace reseq::page {

namespace {

constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kCss = "text/css; charset=utf-8";
constexpr std::string_view kScript = "text/javascript; charset=utf-8";
constexpr std::string_view kSvg = "image/svg+xml";

// Each include is one string, made of the file of that name at build time.
constexpr std::string_view kIndex =
#include <page/index.html.inc>
    ;
constexpr std::string_view kStyle =
#include <page/page.css.inc>
    ;
constexpr std::string_view kIcon =
#include <page/icon.svg.inc>
    ;
constexpr std::string_view kPage =
#include <page/page.js.inc>
    ;
constexpr std::string_view kFormat =
#include <page/format.js.inc>
    ;
constexpr std::string_view kChart =
#include <page/chart.js.inc>
    ;
constexpr std::string_view kOverview =
#include <page/overview.js.inc>
    ;
constexpr std::string_view kWaiting =
#include <page/waiting.js.inc>
    ;
constexpr std::string_view kFailures =
#include <page/failures.js.inc>
    ;
constexpr std::string_view kLanes =
#include <page/lanes.js.inc>
    ;
constexpr std::string_view kDocument =
#include <page/document.js.inc>
    ;

constexpr std::array<File, 11> kFiles = {{
    {"/", kHtml, kIndex},
    {"/page/page.css", kCss, kStyle},
    {"/page/icon.svg", kSvg, kIcon},
    {"/page/page.js", kScript, kPage},
    {"/page/format.js", kScript, kFormat},
    {"/page/chart.js", kScript, kChart},
    {"/page/overview.js", kScript, kOverview},
    {"/page/waiting.js", kScript, kWaiting},
    {"/page/failures.js", kScript, kFailures},
    {"/page/lanes.js", kScript, kLanes},
    {"/page/document.js", kScript, kDocument},
}};

}  // namespace

std::span<const File> files() {
  return kFiles;
}

}  // namespace reseq::page
