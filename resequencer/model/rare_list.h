// RareList: a list that nearly always is empty, and then is a null pointer, which costs nothing to copy.
// Invariant: no list is kept that has nothing in it. Thread rule: plain value.
#pragma once

#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace reseq {

template <typename T>
class RareList {
 public:
  RareList() = default;
  RareList(std::initializer_list<T> all) {
    if (all.size() != 0) all_ = std::make_unique<std::vector<T>>(all);
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

  void push_back(const T& one) {
    if (empty()) all_ = std::make_unique<std::vector<T>>();
    all_->push_back(one);
  }
  // REQUIRES: place <= size()
  void insert(std::size_t place, const T& one) {
    if (empty()) return push_back(one);
    all_->insert(all_->begin() + static_cast<std::ptrdiff_t>(place), one);
  }
  [[nodiscard]] std::size_t size() const { return empty() ? 0 : all_->size(); }
  template <typename Condition>
  void erase_if(Condition condition) {
    if (empty()) return;
    std::erase_if(*all_, condition);
    if (all_->empty()) clear();
  }
  void clear() { all_.reset(); }

  friend bool operator==(const RareList& a, const RareList& b) {
    return a.empty() || b.empty() ? a.empty() == b.empty() : *a.all_ == *b.all_;
  }

 private:
  // Not where it nearly never happens: so little is left there that it is done in place.
  [[gnu::noinline]] void forget() { all_.reset(); }
  static std::unique_ptr<std::vector<T>> copy_of(const RareList& other) {
    return other.empty() ? nullptr : std::make_unique<std::vector<T>>(*other.all_);
  }

  std::unique_ptr<std::vector<T>> all_;
};

}  // namespace reseq
