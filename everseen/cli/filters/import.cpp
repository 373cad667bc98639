#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>

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
#include "everseen/foreign/foreign_file.hpp"
#include "everseen/store/port/filter_stream.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

/// File formats for exporting and importing filters.
enum class file_format : std::uint8_t { everseen, guava, redisbloom };

[[nodiscard]] inline std::optional<file_format> parse_file_format(std::string_view name) noexcept {
  if (name == "everseen") return file_format::everseen;
  if (name == "guava") return file_format::guava;
  if (name == "redisbloom") return file_format::redisbloom;
  return std::nullopt;
}

namespace {

struct import_arguments {
  std::string name;
  std::optional<std::string> file;
  std::optional<file_format> from;
  std::optional<funnel_kind> funnel;
  std::optional<std::uint64_t> capacity;
  store_choice store;
  bool replace = false;
  bool quiet = false;
};

void read_file(const import_arguments& o, const std::string& name, store& into, const input_file& from) {
  const foreign_source source = {[&from](std::span<std::byte> bytes) { return from.read(bytes); },
                                 from.bytes()};
  switch (o.from.value_or(file_format::everseen)) {
    case file_format::everseen:
      return read_stream(into, name, source.read, source.bytes);
    case file_format::guava:
      return import_guava(into, name, source, {o.funnel.value_or(funnel_kind::bytes), o.capacity});
    case file_format::redisbloom:
      return import_redisbloom(into, name, source);
  }
}

void read_new(const import_arguments& o, store& into, const input_file& from) {
  try {
    parse_file(from, [&] { read_file(o, o.name, into, from); });
  } catch (const name_taken&) {
    throw name_taken("a filter named " + quoted_name(o.name) +
                     " exists already; choose another name, or give --replace to have it removed");
  }
}

/// After a failure, which is what the user is told about.
void drop_if_there(store& from, const std::string& name) noexcept {
  try {
    from.drop(name);
  } catch (const std::exception&) {  // it has taken the other's place, or the store does not answer
  }
}

/// A name that nobody has, to read the file under: rename() then exchanges the filters in one step.
std::string name_aside(const std::string& name) {
  return fmt::format("{}.import-{:08x}", name, std::random_device()());
}

void read_and_replace(const import_arguments& o, store& into, const input_file& from) {
  const std::string aside = name_aside(o.name);
  parse_file(from, [&] { read_file(o, aside, into, from); });
  try {
    stop_if_signalled();
    into.rename(aside, o.name, store::namesake::replace);
  } catch (...) {
    drop_if_there(into, aside);
    throw;
  }
}

exit_code run_import(const import_arguments& o, printer& out) {
  const input_file from(o.file.value_or("-"));
  if (!o.file && from.is_terminal())
    throw parameter_error(
        "import reads a file such as everseen export writes; give FILE, or redirect the input");
  if ((o.funnel || o.capacity) && o.from != file_format::guava)
    throw parameter_error(
        "--funnel and --capacity are for a stream of Guava, which lacks them; give --from guava");
  note_signals();
  const auto place = chosen_store(o.store);
  (o.replace ? read_and_replace : read_new)(o, *place, from);
  if (o.quiet) return exit_code::done;
  const std::uint64_t keys = filter(o.name, place->open(o.name, access::read)).info().keys;
  if (keys >= countless_keys)
    out.print("imported {}: full, all of its bits are set\n", shown_name(o.name));
  else
    out.print("imported {}: {} {}\n", shown_name(o.name), format_count(keys), keys == 1 ? "key" : "keys");
  return exit_code::done;
}

action declare_import(option_set& known) {
  auto o = std::make_shared<import_arguments>();
  add_name(known, o->name, {"NAME", "the filter to create"});
  add_argument(known, o->file, {"FILE", "the file; none: standard input"});
  add_choice(known, "--from", o->from,
             {"everseen|guava|redisbloom",
              "what wrote the file: everseen export, BloomFilter.writeTo of Guava, or BF.SCANDUMP as a file "
              "of BF.LOADCHUNK commands",
              "everseen"},
             parse_file_format);
  add_choice(known, "--funnel", o->funnel,
             {"string|chars|int|long|bytes", "Guava: the type of the keys, which its file does not contain",
              "string"},
             parse_funnel_kind);
  add_count(known, "--capacity", o->capacity, {1, max_capacity},
            {"COUNT", "Guava: expectedInsertions of the filter, which its file does not contain",
             "as many as set half of its bits"});
  add_switch(known, "--replace", o->replace, "replace the filter of this name, if there is one");
  add_switch(known, "-q,--quiet", o->quiet, "do not print what was created");
  add_store_options(known, o->store, access::write);
  return [o](printer& out) { return run_import(*o, out); };
}

}  // namespace

verb import_verb() {
  constexpr std::string_view scene =
      "everseen create clicks; everseen add clicks alice; everseen export clicks -o clicks.everseen; "
      "everseen create users --as guava64 --capacity 1000 --error-rate 0.03; everseen export users --to "
      "guava -o users.bloom; everseen create ids --as redisbloom --capacity 1000 --error-rate 0.01; everseen "
      "export ids --to redisbloom -o ids.dump";
  return {
      "import",
      "Create a filter from a file of everseen export, Guava or RedisBloom",
      "If the file is damaged or truncated, or has extra bytes at the end, no filter is created. An "
      "existing filter is replaced only with --replace, in one step when the whole file has been read: if "
      "the "
      "process crashes, NAME is still the old filter or already the new one. Until then the new one has a "
      "name "
      "of its own, NAME.import- and eight digits; if a crash leaves one, drop it. The jobs, links and "
      "the expiry time of the old filter end with it; clients of it get an error. In files, no process may "
      "be writing to it. A linked filter cannot be replaced.\n\nA filter of Guava or RedisBloom keeps its "
      "own system's rules: "
      "every verb works on it, and everseen export --to guava or --to redisbloom writes it back, with "
      "the keys added here. It has no secret seed, and a filter of Guava does not grow. To turn it into "
      "a filter of everseen's own, see everseen migrate.",
      {{"Under a new name", "everseen import copy clicks.everseen", scene},
       {"Back to a copy", "everseen import --replace clicks clicks.everseen", scene},
       {"From a pipe", "cat clicks.everseen | everseen import copy", scene},
       {"A filter of Guava whose keys are longs",
        "everseen import users2 --from guava --funnel long users.bloom", scene},
       {"A filter of RedisBloom", "everseen import ids2 --from redisbloom ids.dump", scene}},
      declare_import};
}

}  // namespace everseen::cli
