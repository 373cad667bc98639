#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/files.hpp"
#include "everseen/cli/numbers.hpp"
#include "everseen/cli/options.hpp"
#include "everseen/cli/printer.hpp"
#include "everseen/cli/signals.hpp"
#include "everseen/cli/stores.hpp"
#include "everseen/cli/verbs.hpp"
#include "everseen/core/error.hpp"
#include "everseen/core/stream_image.hpp"

namespace everseen::cli {

namespace {

struct options {
  std::string name;
  std::optional<std::string> file;
  store_choice store;
};

/// Nothing is visible under the name before the whole stream has been read and found intact.
std::uint64_t restore_stream(const options& o, const input_file& from) {
  image::stream_reader in([&from](std::span<std::byte> into) { return from.read(into); });
  const auto restored = chosen_store(o.store)->begin_restore(o.name, in.get_spec());
  std::uint64_t keys = 0;
  while (const auto header = in.next()) {
    keys += header->keys;
    std::span<std::byte> place =
        restored->add_segment(header->id, {header->shape, header->capacity, header->keys});
    in.read_bits([&place](std::span<const std::byte> bytes) {
      std::copy(bytes.begin(), bytes.end(), place.begin());
      place = place.subspan(bytes.size());
    });
  }
  std::byte beyond{};
  if (from.read({&beyond, 1}) != 0)
    throw format_error("more bytes follow the end of the stream; import takes one stream and nothing else");
  restored->commit();
  return keys;
}

exit_code run(const options& o, printer& out) {
  const input_file from(o.file.value_or("-"));
  if (!o.file && from.is_terminal())
    throw parameter_error("import reads a stream of everseen export; give FILE, or redirect the input");
  note_signals();
  const std::uint64_t keys = restore_stream(o, from);
  out.print("imported {}: {} {}\n", o.name, format_count(keys), keys == 1 ? "key" : "keys");
  return exit_code::done;
}

}  // namespace

verb import_verb() {
  constexpr std::string_view scene =
      "everseen create clicks; everseen add clicks alice; everseen export clicks -o clicks.everseen";
  return {"import",
          "Make a filter from a stream of everseen export",
          "A stream that is damaged or cut off, or that other bytes follow, leaves nothing behind. A filter "
          "that exists is not replaced.",
          {{"Under a new name", "everseen import copy clicks.everseen", scene},
           {"From a pipe", "cat clicks.everseen | everseen import copy", scene}},
          [](CLI::App& app) -> action {
            auto o = std::make_shared<options>();
            add_argument(app, o->name, {"NAME", "the filter to make"});
            add_argument(app, o->file, {"FILE", "the stream; none: standard input"});
            add_store_option(app, o->store);
            return [o](printer& out) { return run(*o, out); };
          }};
}

}  // namespace everseen::cli
