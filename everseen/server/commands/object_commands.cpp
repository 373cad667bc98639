#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>

#include "everseen/server/base/command.hpp"
#include "everseen/server/base/numbers.hpp"
#include "everseen/server/registry/planned_bytes.hpp"
#include "everseen/server/service/service.hpp"

/// OBJECT and MEMORY: the memory of a filter, and when it was last used.
namespace everseen::server {

namespace {

/// The filter of the third word; if there is none, replies null.
std::shared_ptr<shared_filter> found(call& c) {
  auto f = c.all.filters().peek(c.words[2]);
  if (!f) c.reply.null();
  return f;
}

/// Redis's answer for values that modules keep.
void encoding(call& c) {
  if (found(c)) c.reply.bulk("raw");
}

void frequency(call& c) {
  if (found(c))
    throw refusal{
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when "
        "switching between policies at runtime LRU and LFU data will take some time to adjust."};
}

/// Seconds since a client of this server added or looked up a key; without one, since the server created or
/// opened the filter, or since it started while the filter is not open.
void idle_time(call& c) {
  if (!found(c)) return;
  const auto open = c.all.filters().find(c.words[2]);
  const auto idle = open ? open->record->count.unused_for(duration_histogram::clock::now())
                         : std::chrono::floor<std::chrono::seconds>(service::now() - c.all.started());
  c.reply.integer(idle.count());
}

void reference_count(call& c) {
  if (found(c)) c.reply.integer(1);
}

/// MEMORY USAGE key [SAMPLES count]
void usage(call& c) {
  const word_list options = c.words.subspan(3);
  if (!options.empty()) {
    if (options.size() != 2 || !is_word(options[0], "SAMPLES")) throw syntax_error();
    const auto samples = read_integer(options[1]);
    if (!samples) throw refusal{"ERR value is not an integer or out of range"};
    if (*samples < 0) throw syntax_error();
  }
  const auto f = found(c);
  if (!f) return;
  const std::uint64_t bits = std::max(f->planned_bytes, f->handle.info().bytes);
  c.reply.integer(static_cast<std::int64_t>(bits + bytes_beside_bits(f->handle.get_spec().partitions)));
}

constexpr command::key_positions third_word{2, 2, 1};

}  // namespace

std::span<const command> object_commands() {
  static constexpr command of_memory[] = {
      {"MEMORY|HELP", 2, right::read, runs::at_once, no_keys, "server", "Returns this list", "", write_help},
      {"MEMORY|USAGE", -3, right::read, runs::on_worker, third_word, "server",
       "Returns the bytes that a filter takes", "key [SAMPLES count]", usage},
  };
  static constexpr command of_object[] = {
      {"OBJECT|ENCODING", 3, right::read, runs::on_worker, third_word, "generic",
       "Returns how a key is kept: raw", "key", encoding},
      {"OBJECT|FREQ", 3, right::read, runs::on_worker, third_word, "generic",
       "Refused: the frequency of use is not counted", "key", frequency},
      {"OBJECT|HELP", 2, right::read, runs::at_once, no_keys, "generic", "Returns this list", "", write_help},
      {"OBJECT|IDLETIME", 3, right::read, runs::on_worker, third_word, "generic",
       "Returns for how many seconds nobody has used a filter", "key", idle_time},
      {"OBJECT|REFCOUNT", 3, right::read, runs::on_worker, third_word, "generic", "Returns 1", "key",
       reference_count},
  };
  static constexpr command commands[] = {
      {"MEMORY", -2, right::read, runs::at_once, no_keys, "server", "Describes the memory of filters",
       "subcommand", nullptr, nullptr, false, false, false, of_memory},
      {"OBJECT", -2, right::read, runs::at_once, no_keys, "generic", "Describes a key", "subcommand", nullptr,
       nullptr, false, false, false, of_object},
  };
  return commands;
}

}  // namespace everseen::server
