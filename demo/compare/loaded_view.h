// LoadedView: documents of a server, all of which were read.
// Thread rule: one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "demo/compare/sink_view.h"

namespace reseq::demo {

class LoadedView final : public SinkView {
 public:
  using Documents = std::map<std::string, std::string, std::less<>>;

  explicit LoadedView(Documents documents) : documents_(std::move(documents)) {}

  Result<Held> find(std::string_view id) override {
    const auto found = documents_.find(id);
    if (found == documents_.end()) return Held{};
    return Held{.known = true, .payload = found->second};
  }
  Result<std::vector<std::string>> live() override {
    std::vector<std::string> ids;
    for (const auto& [id, payload] : documents_) ids.push_back(id);
    return ids;
  }

 private:
  Documents documents_;
};

}  // namespace reseq::demo
