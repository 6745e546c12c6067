#include "tests/chaos/nemesis/host.h"

#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "tests/support/process.h"

namespace reseq::chaos {

Host::Host(std::string page_file, const std::string& disk_folder) : page_file_(std::move(page_file)) {
  const int file = ::open(page_file_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(HostPage)) != 0) throw std::runtime_error("cannot make " + page_file_);
  void* mapped = ::mmap(nullptr, sizeof(HostPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (mapped == MAP_FAILED) throw std::runtime_error("cannot map " + page_file_);
  page_ = static_cast<HostPage*>(mapped);  // all zero: nothing is moved
  if (disk_folder.size() >= page_->folder.size()) throw std::runtime_error("too long: " + disk_folder);
  disk_folder.copy(page_->folder.data(), disk_folder.size());
}

Host::~Host() {
  (void)::munmap(page_, sizeof(HostPage));
}

std::vector<std::string> Host::environment() const {
  return {"LD_PRELOAD=" + test::program("libreseq_chaos_host.so"), std::string(kHostPageVariable) + "=" + page_file_};
}

}  // namespace reseq::chaos
