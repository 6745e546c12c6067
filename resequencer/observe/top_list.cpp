#include "observe/top_list.h"

#include <algorithm>

#include "codec/hash.h"

namespace reseq::observe {

namespace {

std::string kept_name(std::string_view name) {
  if (name.size() <= TopList::kNameBytesMax) return std::string(name);
  const PayloadHash hash = codec::payload_hash(Op::kUpsert, name);
  return std::string(name.substr(0, TopList::kNameBytesMax)) + "..." + std::to_string(hash.value());
}

}  // namespace

void TopList::add(std::string_view name) {
  const std::string kept = kept_name(name);
  if (const auto known = entries_.find(kept); known != entries_.end()) {
    ++known->second.count;
    return;
  }
  if (entries_.size() < kEntriesMax) {
    entries_[kept] = {1, 0};
    return;
  }
  const auto smallest = std::min_element(entries_.begin(), entries_.end(),
                                         [](const auto& a, const auto& b) { return a.second.count < b.second.count; });
  const Counted successor{smallest->second.count + 1, smallest->second.count};
  entries_.erase(smallest);
  entries_[kept] = successor;
}

std::vector<TopList::Entry> TopList::highest(std::size_t max) const {
  std::vector<Entry> all;
  for (const auto& [name, counted] : entries_) all.push_back({name, counted.count, counted.error});
  std::stable_sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.count > b.count; });
  if (all.size() > max) all.resize(max);
  return all;
}

}  // namespace reseq::observe
