#include "tests/e2e/folded_state.h"

#include <memory>
#include <stdexcept>

#include "tests/e2e/outputs.h"

namespace reseq::test {

std::map<int, FoldedState> fold_changelog(const kafka::Connection& connection, const std::string& topic) {
  std::map<int, store::PartitionStore> stores;
  std::map<int, FoldedState> folded;
  read_all(connection, topic, [&](const kafka::PlainRecord& record) {
    const int partition = record.partition.value();
    const auto applied = stores[partition].restore({record.key.value_or(""), record.payload}, record.offset);
    if (!applied) throw std::runtime_error(topic + ": " + applied.error().message);
    ++folded[partition].records;
  });
  for (auto& [partition, store] : stores) {
    if (!store.meta()) throw std::runtime_error(topic + " has rows but no meta row");
    const Meta& meta = *store.meta();
    folded[partition].rows = store.summary();
    folded[partition].promised = meta.summary;
    folded[partition].lineage = meta.lineage;
  }
  return folded;
}

}  // namespace reseq::test
