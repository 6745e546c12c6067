// reseq-sink-files: keeps one file per document of `output.<target>` in a directory; `reseq-sink-files list` tells
// which file a document is in, or why it has none. With --check off it reads the results on `commands` instead, as a
// sink that knows nothing of order.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <sysexits.h>
#include <utility>

#include "base/usage.h"
#include "consumers/files/file_store.h"
#include "consumers/files/listing.h"
#include "consumers/sink/program.h"

namespace {

using namespace reseq;  // NOLINT(google-build-using-namespace): the words of this program

constexpr int kNoSuchDocument = 1;

int follow(int argc, char** argv) {
  sink::Arguments arguments;
  std::string directory;
  CLI::App app("Writes the documents of a target into files below a directory", "reseq-sink-files");
  app.footer(
      "reseq-sink-files list --directory DIR tells which file a document is in, with --failed what is not there and "
      "why.");
  sink::declare(app, arguments);
  app.add_option("--directory", directory, "made when it does not exist")->required();
  if (const auto code = parse(app, argc, argv)) return *code;
  return sink::run(app.get_name(), arguments,
                   [&](const sink::StoreIdentity& identity) -> Result<std::unique_ptr<sink::Store>> {
                     auto store = files::FileStore::open(directory, identity);
                     if (!store) return store.error();
                     return std::unique_ptr<sink::Store>(std::move(store).value());
                   });
}

int list(int argc, char** argv) {
  std::string directory;
  std::optional<std::string> id;
  bool failed = false;
  CLI::App app("Tells which file a document is in: a line of JSON for each", "reseq-sink-files list");
  app.add_option("--directory", directory, "that of the sink")->required();
  app.add_option("--id", id, "this document only; exit code 1 when it is not there");
  app.add_flag("--failed", failed, "what is not there because it failed, and why; the file says more");
  if (const auto code = parse(app, argc, argv)) return *code;
  const auto what = failed ? files::Listed::kFailed : files::Listed::kDocuments;
  const Result<std::uint64_t> listed = files::list_documents(directory, what, id, stdout);
  if (listed) return id && listed.value() == 0 ? kNoSuchDocument : EX_OK;
  std::fprintf(stderr, "reseq-sink-files: %s\n", listed.error().message.c_str());
  return EX_NOINPUT;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "list") return list(argc - 1, argv + 1);
  return follow(argc, argv);
}
