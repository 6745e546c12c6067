// RareText: bytes that nearly always are none, and then are a null pointer, as RareList.
// Thread rule: plain value.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace reseq {

class RareText {
 public:
  RareText() = default;
  RareText(const RareText& other) : text_(copy_of(other)) {}
  RareText(RareText&&) noexcept = default;
  RareText& operator=(const RareText& other) {
    if (text_ != nullptr || other.text_ != nullptr) text_ = copy_of(other);
    return *this;
  }
  RareText& operator=(RareText&&) noexcept = default;
  RareText& operator=(std::string_view text) {
    text_ = text.empty() ? nullptr : std::make_unique<std::string>(text);
    return *this;
  }
  ~RareText() {
    if (text_ != nullptr) forget();
  }

  RareText& operator+=(std::string_view more) {
    if (text_ == nullptr) return *this = more;
    text_->append(more);
    return *this;
  }
  [[nodiscard]] std::string_view view() const { return text_ == nullptr ? std::string_view() : *text_; }

  friend bool operator==(const RareText& a, const RareText& b) { return a.view() == b.view(); }
  friend bool operator==(const RareText& a, std::string_view b) { return a.view() == b; }

 private:
  // As in RareList.
  [[gnu::noinline]] void forget() { text_.reset(); }
  static std::unique_ptr<std::string> copy_of(const RareText& other) {
    return other.text_ == nullptr ? nullptr : std::make_unique<std::string>(*other.text_);
  }

  std::unique_ptr<std::string> text_;
};

}  // namespace reseq
