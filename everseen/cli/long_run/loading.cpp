#include "everseen/cli/long_run/loading.hpp"

#include <cstdint>
#include <exception>

#include <fmt/format.h>

#include "everseen/cli/terminal/signals.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

namespace {

/// Loaded in a fraction of a second.
constexpr std::uint64_t small_bytes = std::uint64_t{64} << 20;

bool is_worth_a_word(const spec& s) {
  return s.judge == judge_kind::client && s.partitions * growth::plan_layer(s, 0).shape.bytes >= small_bytes;
}

}  // namespace

void load_with_progress(const filter& f, progress_line& line) noexcept {
  try {
    const spec& s = f.get_spec();
    if (!is_worth_a_word(s)) return;
    std::uint64_t bytes = 0;
    for (std::uint32_t p = 0; p < s.partitions && !is_signalled(); ++p) {
      bytes += f.stored().state(p).bytes();
      line.show(fmt::format("loading {}: {} of {} partitions, {}", quoted_name(f.name()), p + 1, s.partitions,
                            format_bytes(static_cast<double>(bytes))));
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): see the header
  }
}

}  // namespace everseen::cli
