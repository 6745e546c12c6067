// Host: the host of one process, as far as the nemesis moves it (tests/chaos/preload/host_page.h).
// Thread rule: one thread; the process reads what is written here at any time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/chaos/preload/host_page.h"

namespace reseq::chaos {

class Host {
 public:
  // Makes the file of the page. `disk_folder`: absolute, where disk errors strike. Throws when that is impossible.
  Host(std::string page_file, const std::string& disk_folder);
  ~Host();
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  // NAME=value of a process that is to live on it.
  [[nodiscard]] std::vector<std::string> environment() const;

  void shift_clock(std::chrono::seconds shift) { page_->clock_shift_s = shift.count(); }
  [[nodiscard]] std::chrono::seconds clock_shift() const { return std::chrono::seconds(page_->clock_shift_s); }
  // errno of what the disk refuses; 0 = it works.
  void break_disk(int error) { page_->disk_error = error; }
  // What the disk takes for each page that is written; 0 = it is fast.
  void slow_disk(std::chrono::microseconds page) { page_->disk_page_us = page.count(); }
  [[nodiscard]] std::uint64_t disk_refusals() const { return page_->disk_refusals; }

 private:
  std::string page_file_;
  HostPage* page_ = nullptr;
};

}  // namespace reseq::chaos
