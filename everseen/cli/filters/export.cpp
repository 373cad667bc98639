#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include "everseen/cli/terminal/files.hpp"
#include "everseen/cli/terminal/printer.hpp"
#include "everseen/cli/verb/attached_text.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/cli/verb/stores.hpp"
#include "everseen/cli/verb/verbs.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/foreign/foreign_file.hpp"
#include "everseen/store/port/filter_stream.hpp"

// The bits go from the store to the descriptor piece by piece, so that a large filter takes no more memory
// than a small one. What the options and the kind of the filter rule out is refused before the first byte:
// the reader of a pipe cannot give bytes back, while a file gets its name only when it is whole.

namespace everseen::cli {

namespace {

enum class destination : std::uint8_t { everseen, guava, redisbloom, raw };

std::optional<destination> parse_destination(std::string_view name) noexcept {
  if (name == "everseen") return destination::everseen;
  if (name == "guava") return destination::guava;
  if (name == "redisbloom") return destination::redisbloom;
  if (name == "raw") return destination::raw;
  return std::nullopt;
}

struct export_arguments {
  std::string name;
  std::optional<std::string> file;
  std::optional<destination> target;
  std::optional<std::string> key;
  store_choice store;
};

/// The string that --key names; optional if there is only one.
foreign::bitmap_place string_to_export(const export_arguments& o, const foreign::attached_filter& a) {
  const std::vector<foreign::bitmap> all = a.strings();
  if (!o.key && all.size() == 1) return all.front().place;
  std::string names;
  std::size_t found = 0;
  const foreign::bitmap* wanted = nullptr;
  for (const foreign::bitmap& b : all) {
    names += (names.empty() ? "" : ", ") + b.place.key;
    if (b.place.key != o.key) continue;
    wanted = &b;
    ++found;
  }
  if (found == 1) return wanted->place;
  if (found > 1)
    throw parameter_error("several servers have a string " + *o.key + "; copy each from its own server");
  throw parameter_error("say which string with --key: " + names);
}

void write_raw(const export_arguments& o, const filter& f, printer& out) {
  const foreign::attached_filter& a = *foreign::as_attached(f.stored());
  a.read_string(string_to_export(o, a), [&out](std::string_view bytes) { out.write(bytes); });
}

void write_file(const export_arguments& o, const filter& f, printer& out) {
  const image::byte_sink sink = [&out](std::span<const std::byte> bytes) {
    out.write({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  switch (o.target.value_or(destination::everseen)) {
    case destination::everseen:
      write_stream(f.stored(), f.name(), sink);
      break;
    case destination::guava:
      export_guava(f, sink);
      break;
    case destination::redisbloom:
      export_redisbloom(f, o.key.value_or(f.name()), sink);
      break;
    case destination::raw:
      write_raw(o, f, out);
      break;
  }
  out.flush();
}

void must_fit(const export_arguments& o, const filter& f) {
  const auto* const attached = foreign::as_attached(f.stored());
  const bool raw = o.target == destination::raw;
  if (raw && attached == nullptr)
    throw parameter_error("--to raw is for attached filters; leave it out for a stream of everseen's");
  if (!raw && attached != nullptr)
    throw parameter_error(quoted_name(o.name) + " is attached: its bits are those of " +
                          std::string(foreign::facts(attached->what().hashing.which).system) +
                          " and fit no other file; copy them as they are with --to raw");
}

exit_code run_export(const export_arguments& o, printer& out) {
  if (!o.file && ::isatty(out.descriptor()) != 0)
    throw parameter_error("a filter is not text for a terminal; give -o FILE, or redirect the output");
  if (o.key && o.target != destination::redisbloom && o.target != destination::raw)
    throw parameter_error(
        "--key is for --to redisbloom: the key that the commands in the file make; and for --to raw: the "
        "string to copy");
  const filter f = chosen_filter(o.store, o.name, access::read);
  must_fit(o, f);
  if (!o.file) {
    write_file(o, f, out);
    return exit_code::done;
  }
  new_file file(*o.file);
  printer target(file.number(), file.path());
  write_file(o, f, target);
  file.publish();
  return exit_code::done;
}

}  // namespace

verb export_verb() {
  constexpr std::string_view scene =
      "everseen create clicks; everseen add clicks alice; everseen create users --as guava64 --capacity 1000 "
      "--error-rate 0.03; everseen create ids --as redisbloom --capacity 1000 --error-rate 0.01";
  return {
      "export",
      "Write a filter as one file: for everseen, Guava or RedisBloom",
      "The file contains everything: the filter's properties, its secret seed, and all bits, with checksums. "
      "Keep it as safe as the filter: a file written by -o is readable by its owner only, and appears under "
      "its name once it is complete.\n\nEvery key added before the export began is in the file; keys added "
      "meanwhile may be. To copy the filter as of one moment, add no keys meanwhile.\n\nA filter that was "
      "imported from Guava or RedisBloom, or made by everseen create --as, can be exported there: --to guava "
      "writes a file for BloomFilter.readFrom, --to redisbloom the BF.LOADCHUNK commands that redis-cli "
      "--pipe sends to a server. For an attached filter, --to raw writes the string of bits as its program "
      "stores it, read a megabyte at a time; --key selects one of several strings.",
      {{"Into a file", "everseen export clicks -o clicks.everseen", scene},
       {"To another machine's store, here another directory",
        "everseen export clicks | everseen import clicks --store file:./copy", scene},
       {"For a program in Java", "everseen export users --to guava -o users.bloom", scene},
       {"For a server with RedisBloom, as its key ids",
        "everseen export ids --to redisbloom --key ids -o ids.dump", scene}},
      [](option_set& known) -> action {
        auto o = std::make_shared<export_arguments>();
        add_name(known, o->name, {"NAME", "the filter"});
        add_output(known, o->file, "write to this file");
        add_choice(known, "--to", o->target,
                   {"everseen|guava|redisbloom|raw", "the program that will read the file", "everseen"},
                   parse_destination);
        add_text(known, "--key", o->key,
                 {"KEY", "RedisBloom: the key to load it under; raw: the string", "NAME"});
        add_store_options(known, o->store);
        return [o](printer& out) { return run_export(*o, out); };
      }};
}

}  // namespace everseen::cli
