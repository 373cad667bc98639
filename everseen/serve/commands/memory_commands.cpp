#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/registry/filter_budget.hpp"
#include "everseen/serve/service/service.hpp"

/// MEMORY: what a filter takes.
namespace everseen::serve {

namespace {

/// MEMORY USAGE key [SAMPLES count]
void usage(call& c) {
  const word_list options = c.words.subspan(3);
  if (!options.empty()) {
    if (options.size() != 2 || !is_word(options[0], "SAMPLES")) throw syntax_error();
    const auto samples = read_integer(options[1]);
    if (!samples) throw refusal{"ERR value is not an integer or out of range"};
    if (*samples < 0) throw syntax_error();
  }
  const auto f = c.all.filters().peek(c.words[2]);
  if (!f) return c.reply.null();
  const std::uint64_t bits = std::max(f->planned_bytes, f->handle.info().bytes);
  c.reply.integer(static_cast<std::int64_t>(bits + bytes_beside_bits(f->handle.get_spec().partitions)));
}

constexpr command::key_positions third_word{2, 2, 1};

}  // namespace

std::span<const command> memory_commands() {
  static constexpr command subcommands[] = {
      {"MEMORY|USAGE", -3, right::read, runs::on_worker, third_word, usage},
  };
  static constexpr command commands[] = {
      {"MEMORY", -2, right::read, runs::at_once, no_keys, nullptr, nullptr, false, subcommands},
  };
  return commands;
}

}  // namespace everseen::serve
