// Launches: the programs of a run with their arguments, and what its sinks hold in the end.
// Thread rule: pure, but for resequencer_launches(), which writes files, and delete_topics() and the view, which ask
// servers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "demo/compare/sink_view.h"
#include "demo/process/child_process.h"
#include "demo/run/settings.h"

namespace reseq::demo {

[[nodiscard]] Launch launch(const Settings& settings, const std::string& name, const std::string& program,
                            std::vector<std::string> arguments);

// All processes of the resequencer, whose configurations are written.
[[nodiscard]] Result<std::vector<Launch>> resequencer_launches(const Settings& settings);

// The same sink twice: behind the resequencer, and on the raw results with its check off.
[[nodiscard]] Launch sink_launch(const Settings& settings, const std::string& target, bool checked);
[[nodiscard]] Result<std::unique_ptr<SinkView>> view_of_sink(const Settings& settings, const std::string& target,
                                                             bool checked);

// The history up to this revision. `options` of reseq-produce; `git_options` of its subcommand.
[[nodiscard]] Launch source_launch(const Settings& settings, const std::string& name,
                                   const std::vector<std::string>& options, const std::string& revision,
                                   const std::vector<std::string>& git_options = {});

// Options of reseq-produce: the rate that was asked for. A stall anywhere must not turn the rest of a history into a
// backlog, of which hardly anything would be scrambled.
[[nodiscard]] std::vector<std::string> pace_of_source(const Settings& settings);

// All topics of the application. What cannot be deleted is told on stderr.
void delete_topics(const Settings& settings);

}  // namespace reseq::demo
