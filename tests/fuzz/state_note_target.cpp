// The checkpoint record and the notes in a state folder (clean mark, boot note, poison, owner). Bytes that were not
// written by this program never make a copy look better than it is, and never give a folder to another application.
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "codec/hash.h"
#include "pieces.h"
#include "store/checkpoint_record.h"
#include "store/instance_folder.h"
#include "store/state_folder.h"
#include "targets.h"

namespace reseq::fuzz {
namespace {

constexpr const char* kBootId = "0d7e2a1c";

void check_record(std::string bytes, bool sealed) {
  if (sealed) {
    const std::uint32_t sum = codec::crc32(bytes);
    for (unsigned shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(sum >> shift));
  }
  const auto record = store::decode_checkpoint(bytes);
  if (!record) return;
  RESEQ_ASSERT(store::encode_checkpoint(record.value()) == bytes, "a checkpoint with two encodings");
}

// A folder in memory where there is one: each input opens it, and some notes are synced.
class Folder {
 public:
  Folder() {
    std::string pattern =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm/reseq-fuzz-XXXXXX" : "reseq-fuzz-XXXXXX";
    RESEQ_ASSERT(::mkdtemp(pattern.data()) != nullptr, "no folder to try state folders in");
    path_ = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  void write(const char* name, std::string_view text) const {
    const int file = ::open((path_ + "/" + name).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    RESEQ_ASSERT(file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()),
                 "a note cannot be written");
    ::close(file);
  }
  void clear() const {
    for (const auto& entry : std::filesystem::directory_iterator(path_)) std::filesystem::remove(entry.path());
  }

 private:
  std::string path_;
};

std::string place_of(const std::string& path) {
  struct stat status {};
  RESEQ_ASSERT(::stat(path.c_str(), &status) == 0, "the folder is gone");
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

// `%` stands for what this folder would say, so that notes come near to being right.
std::string filled_in(const std::string& note, const std::string& right) {
  const std::size_t at = note.find('%');
  return at == std::string::npos ? note : note.substr(0, at) + right + note.substr(at + 1);
}

void check_copy(const Folder& folder, Pieces& pieces) {
  using Copy = store::StateFolder::Copy;
  const std::string copy = pieces.text();
  const std::string boot_right = std::string(kBootId) + " " + place_of(folder.path());
  const std::string clean = filled_in(pieces.text(), std::to_string(copy.size()));
  const std::string boot = filled_in(pieces.text(), boot_right);
  folder.write("data.mdb", copy);
  folder.write("clean", clean);
  folder.write("boot", boot);
  auto opened = store::StateFolder::open(folder.path(), kBootId);
  RESEQ_ASSERT(opened.ok(), "notes made a folder unusable");
  const Copy found = opened.value()->found();
  if (copy.empty()) {
    RESEQ_ASSERT(found == Copy::kNone, "a copy without a file");
    return;
  }
  const bool is_clean = clean == "1 " + std::to_string(copy.size()) + "\n";
  const bool same_boot = boot == "1 " + boot_right + "\n";
  const Copy expected = is_clean ? Copy::kClean : same_boot ? Copy::kSameBoot : Copy::kOtherBoot;
  RESEQ_ASSERT(found == expected, "a copy that looks better or worse than its notes say");
}

void check_owner(const Folder& folder, Pieces& pieces) {
  const store::Owner owner{"shop", "kraft-1"};
  const std::string note = filled_in(pieces.text(), "application shop cluster kraft-1");
  folder.write("owner", note);
  const auto looked = store::InstanceFolder::look(folder.path(), owner);
  RESEQ_ASSERT(looked.ok() == (note.empty() || note == "1 application shop cluster kraft-1\n"),
               "a folder of another application was given");
}

}  // namespace

void fuzz_state_note(std::string_view input) {
  static const Folder folder;
  Pieces pieces(input);
  const std::uint8_t choice = pieces.byte();
  if (choice % 4 < 2) return check_record(std::string(pieces.rest()), choice % 4 == 0);
  if (choice % 4 == 2)
    check_copy(folder, pieces);
  else
    check_owner(folder, pieces);
  folder.clear();
}

}  // namespace reseq::fuzz
