#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "everseen/cli/terminal/files.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/layout/set_bits.hpp"
#include "everseen/store/port/filter_stream.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

struct merge_arguments {
  std::string into;
  std::vector<std::string> siblings;
  std::optional<std::string> from;
  std::vector<std::string> exports;
  store_choice store;
  bool quiet = false;
};

/// The filter of an export, in memory.
filter read_export(const std::string& path) {
  const auto memory = open_store("mem:");
  const input_file file(path);
  parse_file(file, [&] {
    read_stream(
        *memory, "export", [&file](std::span<std::byte> bytes) { return file.read(bytes); }, file.bytes());
  });
  return {path, memory->open("export", access::read)};
}

exit_code run_merge(const merge_arguments& o, printer& out) {
  if (o.siblings.empty() && o.exports.empty())
    throw parameter_error("merge needs the filters whose keys are added: their names, or --from-export FILE");
  note_signals();
  const auto place = chosen_store(o.store);
  const auto from = o.from ? chosen_store({.url = o.from, .timeout = o.store.timeout}) : place;
  filter into = open(*place, o.into);
  std::vector<filter> siblings;
  for (const std::string& name : o.siblings) siblings.push_back(open(*from, name, access::read));
  for (const std::string& path : o.exports) siblings.push_back(read_export(path));
  into.merge(siblings);
  into.sync();
  if (o.quiet) return exit_code::done;
  const std::size_t merged = siblings.size();
  const std::uint64_t keys = into.info().keys;
  out.print("merged {} {} into {}, which {}\n", merged, merged == 1 ? "filter" : "filters",
            shown_name(o.into),
            keys >= countless_keys ? "is full now: all of its bits are set"
                                   : fmt::format("has about {} keys now", format_count(keys)));
  return exit_code::done;
}

action declare_merge(option_set& known) {
  auto o = std::make_shared<merge_arguments>();
  add_name(known, o->into, {"INTO", "the filter that gets the keys"});
  add_names(known, o->siblings, {"SIBLING", "filters whose keys it gets; they do not change"});
  add_text(known, "--from", o->from, {"URL", "the store of the siblings", "that of INTO"});
  add_texts(known, "--from-export", o->exports,
            {"FILE", "a sibling as written by everseen export; -: standard input"});
  add_switch(known, "-q,--quiet", o->quiet, "do not print what was merged");
  add_store_options(known, o->store, access::write);
  return [o](printer& out) { return run_merge(*o, out); };
}

}  // namespace

verb merge_verb() {
  constexpr std::string_view two =
      "everseen create monday --capacity 1M; everseen create tuesday --like monday; "
      "everseen add monday -q alice bob; everseen add tuesday -q bob carol; everseen create week --like "
      "monday";
  return {
      "merge",
      "Add all keys of other filters to a filter",
      "Afterwards every key of the siblings is seen in INTO. Their bits are combined, so no keys are "
      "needed.\n\nSiblings have the same properties and the same secret seed: everseen create --like makes "
      "one in the same store, and an export that is imported elsewhere is one. So the workers of a job can "
      "each fill a sibling of their own, without a network, and one program merges what they export.\n\n"
      "Create siblings for the keys of all: if a layer would have more keys than it may have within the "
      "error rate, nothing is merged. Keys of several siblings count once, as far as the bits show. A "
      "sibling that asks an older filter first is refused.\n\nINTO may be in any store, and in "
      "use meanwhile. Exports are read into memory. Merging again adds what an interrupted run "
      "has left out, and what the siblings have got "
      "since.",
      {{"A week out of its days", "everseen merge week monday tuesday", two},
       {"What a worker has exported", "everseen merge week --from-export part-7.everseen",
        "everseen create week; everseen export week -o empty.everseen; everseen import part --store file:./7 "
        "-q empty.everseen; everseen add part --store file:./7 -q alice; everseen export part --store "
        "file:./7 -o part-7.everseen"},
       {"From another store", "everseen merge week monday --from file:./elsewhere",
        "everseen create week; everseen export week | everseen import monday --store file:./elsewhere -q"}},
      declare_merge};
}

}  // namespace everseen::cli
