#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "gates.h"
#include "include_lines.h"

namespace reseq::tidy {
namespace {

using Words = std::vector<std::string_view>;

// Folder -> what it may include beside itself. A folder stands for all of its files, a file for itself alone.
// What a folder may use through another one it may include by name: that is why base and model appear so often.
using Rule = std::map<std::string_view, Words>;

Rule rule_of_the_product() {
  return {
      {"resequencer/base", {}},
      {"resequencer/model", {"resequencer/base"}},
      {"resequencer/engine",
       {"resequencer/engine/documents", "resequencer/engine/journal", "resequencer/engine/operations",
        "resequencer/engine/orders", "resequencer/codec/held_rows.h", "resequencer/codec/keys.h", "resequencer/model",
        "resequencer/base"}},
      // Tables: what they say happens to effects is not theirs.
      {"resequencer/engine/documents",
       {"resequencer/engine/context.h", "resequencer/engine/ruling.h", "resequencer/engine/standing.h",
        "resequencer/engine/stamp.h", "resequencer/model", "resequencer/base"}},
      {"resequencer/engine/journal",
       {"resequencer/engine", "resequencer/codec/held_rows.h", "resequencer/codec/keys.h",
        "resequencer/codec/record_size.h", "resequencer/codec/rows.h", "resequencer/model", "resequencer/base"}},
      {"resequencer/engine/orders",
       {"resequencer/engine", "resequencer/codec/held_rows.h", "resequencer/codec/keys.h",
        "resequencer/codec/place_row.h", "resequencer/codec/record_size.h", "resequencer/codec/rows.h",
        "resequencer/model", "resequencer/base"}},
      {"resequencer/engine/operations",
       {"resequencer/engine/documents", "resequencer/engine/failures", "resequencer/engine/context.h",
        "resequencer/engine/ruling.h", "resequencer/engine/standing.h", "resequencer/model", "resequencer/base"}},
      {"resequencer/codec", {"resequencer/model", "resequencer/base"}},
      {"resequencer/driver", {"resequencer/engine", "resequencer/codec", "resequencer/model", "resequencer/base"}},
      {"resequencer/store",
       {"resequencer/engine/state_view.h", "resequencer/codec", "resequencer/model", "resequencer/base"}},
      {"resequencer/kafka", {"resequencer/model/ids.h", "resequencer/model/header.h", "resequencer/base"}},
      {"resequencer/changelog",
       {"resequencer/engine", "resequencer/codec", "resequencer/kafka", "resequencer/store", "resequencer/model",
        "resequencer/base"}},
      {"resequencer/admin",
       {"resequencer/engine/state_view.h", "resequencer/codec", "resequencer/kafka", "resequencer/model",
        "resequencer/base"}},
      {"resequencer/metrics", {"resequencer/base"}},
      {"resequencer/http", {"resequencer/base"}},
      {"resequencer/page", {"resequencer/base"}},
      {"resequencer/config", {"resequencer/base"}},
      // Without the worker: that it decides as one does is the driver's.
      {"resequencer/observe",
       {"resequencer/runtime/application", "resequencer/driver", "resequencer/engine", "resequencer/changelog",
        "resequencer/codec", "resequencer/kafka", "resequencer/store", "resequencer/config", "resequencer/admin",
        "resequencer/metrics", "resequencer/http", "resequencer/model", "resequencer/base"}},
      {"resequencer/cli", {"resequencer"}},
      {"resequencer", {"resequencer/cli"}},  // main.cpp
  };
}

Rule rule_of_the_runtime() {
  return {
      {"resequencer/runtime/application",
       {"resequencer/engine/batch.h", "resequencer/engine/context.h", "resequencer/engine/gate.h",
        "resequencer/engine/journal/journal.h", "resequencer/engine/orders/orders.h", "resequencer/store/disk_copy.h",
        "resequencer/codec", "resequencer/kafka", "resequencer/config", "resequencer/admin", "resequencer/model",
        "resequencer/base"}},
      {"resequencer/runtime/takeover",
       {"resequencer/runtime/application", "resequencer/changelog", "resequencer/codec", "resequencer/kafka",
        "resequencer/store", "resequencer/model", "resequencer/base"}},
      {"resequencer/runtime/worker",
       {"resequencer/runtime/application", "resequencer/runtime/takeover", "resequencer/driver", "resequencer/engine",
        "resequencer/changelog", "resequencer/codec", "resequencer/kafka", "resequencer/store", "resequencer/metrics",
        "resequencer/model", "resequencer/base"}},
      {"resequencer/runtime/desk",
       {"resequencer/runtime/application", "resequencer/runtime/worker/lane_heads.h",
        "resequencer/runtime/worker/report.h", "resequencer/runtime/worker/survey.h",
        "resequencer/runtime/worker/worker.h", "resequencer/engine/standing.h", "resequencer/codec",
        "resequencer/kafka", "resequencer/config", "resequencer/admin", "resequencer/metrics", "resequencer/http",
        "resequencer/page", "resequencer/model", "resequencer/base"}},
      {"resequencer/runtime/process",
       {"resequencer/runtime", "resequencer/kafka", "resequencer/store", "resequencer/config", "resequencer/http",
        "resequencer/model", "resequencer/base"}},
  };
}

Rule rule_of_programs_around() {
  return {
      {"producers", {"resequencer/model", "resequencer/codec", "resequencer/kafka", "resequencer/base"}},
      {"consumers",
       {"consumers/remote", "producers/ndjson", "resequencer/model", "resequencer/codec", "resequencer/kafka",
        "resequencer/base"}},
      {"consumers/remote",
       {"consumers", "resequencer/http", "resequencer/metrics", "resequencer/model", "resequencer/codec",
        "resequencer/kafka", "resequencer/base"}},
      {"docs/examples", {"consumers"}},
      {"demo",
       {"producers", "consumers", "resequencer/model", "resequencer/codec", "resequencer/kafka", "resequencer/base"}},
  };
}

const Rule& rule() {
  static const Rule kRule = [] {
    Rule all = rule_of_the_product();
    all.merge(rule_of_the_runtime());
    all.merge(rule_of_programs_around());
    return all;
  }();
  return kRule;
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/';
}

// The row of the rule that a file belongs to, the longest: "resequencer" for main.cpp only; empty for a folder without
// a row.
std::string_view row_of(std::string_view path) {
  const std::string_view folder = folder_of(path);
  std::string_view longest;
  for (const auto& [row, allowed] : rule()) {
    const bool is_it = row == folder || (row != "resequencer" && is_below(path, row));
    if (is_it && row.size() > longest.size()) longest = row;
  }
  return longest;
}

bool allows(const Words& allowed, std::string_view target) {
  return std::any_of(allowed.begin(), allowed.end(),
                     [&](std::string_view one) { return target == one || is_below(target, one); });
}

struct Owned {
  std::string_view header;
  std::string_view owner;
};
constexpr std::array<Owned, 6> kOwned = {
    Owned{.header = "libpq-fe.h", .owner = "consumers/postgres"},
    Owned{.header = "lmdb.h", .owner = "resequencer/store"},
    Owned{.header = "rdkafka", .owner = "resequencer/kafka"},
    Owned{.header = "curl/", .owner = "consumers/opensearch"},
    Owned{.header = "simdjson", .owner = "consumers/opensearch"},
    Owned{.header = "zlib.h", .owner = "consumers/opensearch"},
};

void check_library(const File& file, const IncludeLine& include, Violations& found) {
  for (const Owned& owned : kOwned) {
    if (include.name.find(owned.header) != std::string::npos && !is_below(file.path, owned.owner)) {
      found.push_back({file.path, include.line, "<" + include.name + "> belongs to " + std::string(owned.owner)});
    }
  }
}

void check_own(const SourceTree& tree, const File& file, const IncludeLine& include, Violations& found) {
  const std::string target = resolve(tree, file.path, include.name);
  if (target.empty()) {
    found.push_back({file.path, include.line, "\"" + include.name + "\" is no file of the tree"});
    return;
  }
  if (file.path.starts_with("tests/")) return;
  const std::string_view row = row_of(file.path);
  if (row.empty()) {
    found.push_back({file.path, include.line, "the include rule has no row for this folder"});
  } else if (row_of(target) != row && !allows(rule().at(row), target)) {
    found.push_back({file.path, include.line, std::string(row) + " must not include " + target});
  }
}

}  // namespace

Violations check_includes(const SourceTree& tree) {
  Violations found;
  for (const File& file : tree.files()) {
    if (!is_cpp(file.path)) continue;
    for (const IncludeLine& include : include_lines(file.text)) {
      if (include.quoted) check_own(tree, file, include, found);
      if (!include.quoted && !file.path.starts_with("tests/")) check_library(file, include, found);
    }
  }
  return found;
}

}  // namespace reseq::tidy
