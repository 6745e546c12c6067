// Arena: memory that lives as long as a batch. Header values, keys and rows on their way to Kafka are placed here, so
// that nothing is allocated or freed record by record.
// Thread rule: one thread.
#pragma once

#include <boost/container/pmr/monotonic_buffer_resource.hpp>
#include <cstring>
#include <string_view>

namespace reseq {

class Arena {
 public:
  // A view of `bytes` that lives until reset().
  [[nodiscard]] std::string_view copy(std::string_view bytes) {
    char* place = allocate(bytes.size());
    if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
    return {place, bytes.size()};
  }

  [[nodiscard]] char* allocate(std::size_t bytes) {
    return static_cast<char*>(memory_.allocate(bytes == 0 ? 1 : bytes, 1));
  }

  void reset() { memory_.release(); }

 private:
  boost::container::pmr::monotonic_buffer_resource memory_;
};

}  // namespace reseq
