// RareList: a list that nearly always is empty, and then is a null pointer, which costs nothing to copy. When it is
// not, it mostly has one element, and then is one piece of memory.
// Invariant: no list is kept that has nothing in it. Thread rule: plain value.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <initializer_list>
#include <memory>
#include <utility>

namespace reseq {

template <typename T>
class RareList {
 public:
  RareList() = default;
  RareList(std::initializer_list<T> all) {
    if (all.size() != 0) all_ = std::make_unique<List>(all.begin(), all.end());
  }
  RareList(const RareList& other) : all_(copy_of(other)) {}
  RareList(RareList&&) noexcept = default;
  RareList& operator=(const RareList& other) {
    if (all_ != nullptr || other.all_ != nullptr) all_ = copy_of(other);
    return *this;
  }
  RareList& operator=(RareList&&) noexcept = default;
  ~RareList() {
    if (all_ != nullptr) forget();
  }

  [[nodiscard]] bool empty() const { return all_ == nullptr; }
  [[nodiscard]] const T* begin() const { return empty() ? nullptr : all_->data(); }
  [[nodiscard]] const T* end() const { return empty() ? nullptr : all_->data() + all_->size(); }
  [[nodiscard]] T* begin() { return empty() ? nullptr : all_->data(); }
  [[nodiscard]] T* end() { return empty() ? nullptr : all_->data() + all_->size(); }

  // REQUIRES: it is none of this list.
  void push_back(const T& one) {
    if (empty()) all_ = std::make_unique<List>();
    all_->push_back(one);
  }
  // REQUIRES: as above; place <= size()
  void insert(std::size_t place, const T& one) {
    if (empty()) return push_back(one);
    all_->insert(all_->begin() + static_cast<std::ptrdiff_t>(place), one);
  }
  [[nodiscard]] std::size_t size() const { return empty() ? 0 : all_->size(); }
  template <typename Condition>
  void erase_if(Condition condition) {
    if (empty()) return;
    all_->erase(std::remove_if(all_->begin(), all_->end(), condition), all_->end());
    if (all_->empty()) clear();
  }
  void clear() { all_.reset(); }

  friend bool operator==(const RareList& a, const RareList& b) {
    return a.empty() || b.empty() ? a.empty() == b.empty() : *a.all_ == *b.all_;
  }

 private:
  using List = boost::container::small_vector<T, 1>;

  // Not where it nearly never happens: so little is left there that it is done in place.
  [[gnu::noinline]] void forget() { all_.reset(); }
  static std::unique_ptr<List> copy_of(const RareList& other) {
    return other.empty() ? nullptr : std::make_unique<List>(*other.all_);
  }

  std::unique_ptr<List> all_;
};

}  // namespace reseq
