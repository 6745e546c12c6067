#include "tests/chaos/nemesis/state_damage.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "store/state_folder.h"

namespace reseq::chaos {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kMetaPages = 2;

std::string file_of(const std::string& copy, const char* name = "data.mdb") {
  return copy + "/" + name;
}

std::uint64_t size_of(const std::string& file) {
  std::error_code missing;
  const auto size = fs::file_size(file, missing);
  return missing ? 0 : size;
}

void flip_bit(const std::string& file, std::uint64_t at, unsigned bit) {
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekg(static_cast<std::streamoff>(at));
  const int was = bytes.get();
  bytes.seekp(static_cast<std::streamoff>(at));
  bytes.put(static_cast<char>(was ^ (1 << bit)));
}

void write(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

Damage flip_meta_pages(const std::string& file, simulation::Draw& draw) {
  // Both, or LMDB goes on from the other one, which is a checkpoint older: that is the damage `older`.
  for (std::uint64_t page = 0; page < kMetaPages; ++page)
    for (int flips = 0; flips < 4; ++flips)
      flip_bit(file, page * kPage + draw.below(160), static_cast<unsigned>(draw.below(8)));
  return {.what = "bits of both meta pages flipped", .silent = true};
}

Damage flip_pages(const std::string& file, simulation::Draw& draw) {
  const std::uint64_t size = size_of(file);
  if (size <= kMetaPages * kPage) return {.what = "nothing: no page but the meta pages"};
  const std::uint64_t flips = 1 + draw.below(16);
  for (std::uint64_t i = 0; i < flips; ++i)
    flip_bit(file, kMetaPages * kPage + draw.below(size - kMetaPages * kPage), static_cast<unsigned>(draw.below(8)));
  return {.what = std::to_string(flips) + " bits of pages flipped", .silent = true};
}

Damage truncate(const std::string& file, simulation::Draw& draw) {
  const std::uint64_t size = draw.below(size_of(file) + 1);
  fs::resize_file(file, size);
  return {.what = "data.mdb cut to " + std::to_string(size) + " bytes", .silent = true};
}

Damage put_back(const std::string& copy, const std::string& kept_folder) {
  if (size_of(file_of(kept_folder)) == 0) return {.what = "nothing: no old copy was kept"};
  for (const char* name : {"data.mdb", "boot", "clean"}) {
    fs::remove(file_of(copy, name));
    if (fs::exists(file_of(kept_folder, name))) fs::copy_file(file_of(kept_folder, name), file_of(copy, name));
  }
  fs::remove(file_of(copy, "lock.mdb"));
  return {.what = "an old copy put back"};
}

// Copies of all instances, the largest first: one that holds no checkpoint yet would not be a wrong one, but none.
// Another instance may run: a copy that is torn is also a wrong one.
std::vector<std::string> filled_copies(const fs::path& instance_folder) {
  std::vector<std::pair<std::uint64_t, std::string>> filled;
  std::error_code missing;
  for (const auto& instance : fs::directory_iterator(instance_folder.parent_path(), missing)) {
    if (!instance.is_directory()) continue;
    for (const std::string& copy : copies_of(instance.path().string()))
      if (const std::uint64_t size = size_of(file_of(copy)); size > 0) filled.emplace_back(size, copy);
  }
  std::sort(filled.rbegin(), filled.rend());
  std::vector<std::string> copies;
  for (auto& [size, copy] : filled) copies.push_back(std::move(copy));
  return copies;
}

// As if a process of this boot had written it here and died.
void note_boot(const std::string& copy) {
  auto folder = store::StateFolder::open(copy, store::boot_id());
  if (!folder || !folder.value()->begin_writing()) throw std::runtime_error("cannot write notes in " + copy);
}

}  // namespace

std::vector<std::string> copies_of(const std::string& instance_folder) {
  std::vector<std::string> found;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(instance_folder, missing))
    if (entry.is_directory()) found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

void poison_copies(const std::string& instance_folder) {
  for (const std::string& copy : copies_of(instance_folder))
    if (size_of(file_of(copy)) > 0) write(file_of(copy, "poisoned"), "rebuild\n");
}

std::set<int> exchange_copies(const std::string& instance_folder, const std::set<int>& partitions) {
  const std::string aside = instance_folder + "/data.mdb.";
  const std::vector<std::string> filled = filled_copies(instance_folder);
  std::set<int> taken;
  for (const int partition : partitions) {
    const auto other = std::find_if(filled.begin(), filled.end(), [&](const std::string& copy) {
      return fs::path(copy).filename() != std::to_string(partition);
    });
    if (other == filled.end()) continue;
    fs::create_directories(instance_folder);
    fs::copy_file(file_of(*other), aside + std::to_string(partition), fs::copy_options::overwrite_existing);
    taken.insert(partition);
  }
  for (const int partition : taken) {
    const std::string copy = instance_folder + "/" + std::to_string(partition);
    fs::remove_all(copy);
    fs::create_directory(copy);
    fs::permissions(copy, fs::perms::owner_all);
    fs::rename(aside + std::to_string(partition), file_of(copy));
    note_boot(copy);
  }
  return taken;
}

bool keep(const std::string& copy, const std::string& kept_folder) {
  if (size_of(file_of(copy)) == 0) return false;
  fs::remove_all(kept_folder);
  fs::create_directories(kept_folder);
  for (const char* name : {"data.mdb", "boot", "clean"})
    if (fs::exists(file_of(copy, name))) fs::copy_file(file_of(copy, name), file_of(kept_folder, name));
  return true;
}

std::string owner_of(const std::string& instance_folder) {
  std::ifstream file(instance_folder + "/owner", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string damage_owner(const std::string& instance_folder, simulation::Draw& draw) {
  const std::string file = instance_folder + "/owner";
  const std::uint64_t size = size_of(file);
  if (size < 2 || draw.chance(300)) {
    write(file, "1 application another cluster none\n");
  } else if (draw.chance(500)) {
    flip_bit(file, draw.below(size), static_cast<unsigned>(draw.below(8)));
  } else {
    fs::resize_file(file, 1 + draw.below(size - 1));
  }
  return owner_of(instance_folder);
}

void remove_owner(const std::string& instance_folder) {
  fs::remove(instance_folder + "/owner");
}

Damage damage(const std::string& copy, const std::string& kept_folder, simulation::Draw& draw) {
  const std::string file = file_of(copy);
  if (size_of(file) == 0) return {.what = "nothing: no copy"};
  switch (draw.below(9)) {
    case 0:
      return flip_meta_pages(file, draw);
    case 1:
      return flip_pages(file, draw);
    case 2:
      return truncate(file, draw);
    case 3:
      write(file, std::string(64 * kPage, 'x'));
      return {.what = "data.mdb is garbage"};
    case 4:
      return put_back(copy, kept_folder);
    case 5:
      write(file_of(copy, "clean"), "1 " + std::to_string(draw.below(1 << 20)) + "\n");
      return {.what = "clean mark of another length"};
    case 6:
      write(file_of(copy, "boot"), "1 00000000-0000-0000-0000-000000000000 1:1\n");
      fs::remove(file_of(copy, "clean"));
      return {.what = "boot note of another boot"};
    case 7:
      write(file_of(copy, "lock.mdb"), std::string(100, 'y'));
      return {.what = "lock.mdb is garbage"};
    default:
      fs::remove_all(copy);
      return {.what = "the folder removed"};
  }
}

}  // namespace reseq::chaos
