// What can happen to the copies of a process that does not run.
// Thread rule: one thread; nobody has the folder open.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tests/simulation/kafka/draw.h"

namespace reseq::chaos {

// Folders of partitions in the folder of an instance.
[[nodiscard]] std::vector<std::string> copies_of(const std::string& instance_folder);

// As after a sync that failed: each copy is to be rebuilt at its next opening.
void poison_copies(const std::string& instance_folder);

// The copy of each of these partitions becomes one of another partition, of this instance or of another one, with notes
// that say nothing against it: what the changelog holds is to find it out. Returns the partitions whose copy is another
// one now. REQUIRES: they were born. With an empty changelog a copy is taken for all that is left, and rightly.
[[nodiscard]] std::set<int> exchange_copies(const std::string& instance_folder, const std::set<int>& partitions);

// Keeps a copy of the copy, to be put back later. False: there is nothing to keep.
bool keep(const std::string& copy, const std::string& kept_folder);

struct Damage {
  std::string what;     // one line, for the log
  bool silent = false;  // nothing may notice it before the damaged place is read
  [[nodiscard]] bool done() const { return !what.starts_with("nothing: "); }
};

// The folder of an instance looks like one of another application, or its owner cannot be read: who starts is refused.
// Returns what is written there now.
[[nodiscard]] std::string damage_owner(const std::string& instance_folder, simulation::Draw& draw);
[[nodiscard]] std::string owner_of(const std::string& instance_folder);
void remove_owner(const std::string& instance_folder);

// Draws one damage and does it to a copy. `kept_folder`: what keep() made, if anything.
Damage damage(const std::string& copy, const std::string& kept_folder, simulation::Draw& draw);

}  // namespace reseq::chaos
