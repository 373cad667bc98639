#include "everseen/cli/long_run/filter_options.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "everseen/cli/terminal/signals.hpp"
#include "everseen/cli/verb/options.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/base/quantity.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/growth.hpp"
#include "everseen/text/numbers.hpp"

namespace everseen::cli {

void add_filter_options(option_set& known, filter_options& target, const filter_option_texts& texts) {
  add_rate(known, "--error-rate", target.error_rate, {sizing::min_error_rate, sizing::max_error_rate},
           {"RATE", texts.error_rate, "1e-6"});
  add_count(known, "--capacity", target.capacity, {1, max_capacity},
            {"COUNT", texts.capacity, texts.usual_capacity});
  add_hash(known, target.hash, texts.usual_hash);
  add_judge(known, target.judge);
}

void add_window_options(option_set& known, filter_options& target) {
  add_duration(known, "--window", target.window,
               {"TIME", "forget keys after this time, as in 10m, 1h30m or 4w"});
  add_count(known, "--slices", target.slices, {1, max_slices},
            {"COUNT", "parts of the window; a key is forgotten up to one part later", "10"});
}

spec_request request_of(const filter_options& given) {
  spec_request request;
  request.error_rate = given.error_rate;
  request.capacity = given.capacity;
  request.hash = given.hash;
  request.judge = given.judge;
  if (given.window)
    request.window =
        window_spec{*given.window, static_cast<std::uint32_t>(given.slices.value_or(default_slices))};
  return request;
}

namespace {

/// A run that failed before it added anything may have left an empty filter.
std::string remedy(const store& in, const filter& f) {
  const bool may_have_jobs = !in.traits().offers_jobs || !in.jobs(f.name()).empty();
  if (f.info().keys > 0 || may_have_jobs || f.stored().path().asks_first) return {};
  return fmt::format("; it is empty, and everseen drop {} removes it", name_argument(f.name()));
}

}  // namespace

void must_agree(const filter_options& given, const store& in, const filter& f) {
  const spec& s = f.get_spec();
  const auto differs = [&](std::string_view option, const auto& has) {
    throw parameter_error(
        fmt::format("{} does not fit the filter {}, which was created with {}; leave it out, or use "
                    "another --filter{}",
                    option, quoted_name(f.name()), has, remedy(in, f)));
  };
  if (given.error_rate && *given.error_rate != s.error_rate) differs("--error-rate", s.error_rate);
  if (given.capacity && *given.capacity != s.capacity) differs("--capacity", s.capacity);
  if (given.hash && !is_as_asked(s.hash, *given.hash)) differs("--hash", to_string(s.hash));
  if (given.judge && *given.judge != s.judge) differs("--judge", to_string(s.judge));
  if (given.window && (!s.window || s.window->width != *given.window))
    differs("--window", s.window ? format_duration(s.window->width) : "none");
  if (given.slices && (!s.window || s.window->slices != *given.slices))
    differs("--slices", s.window ? std::to_string(s.window->slices) : "none");
}

filter existing_filter(store& in, const std::string& name) {
  try {
    return {name, in.open(name, access::write)};
  } catch (const no_filter&) {
    throw is_gone("the filter " + quoted_name(name));
  }
}

format_error is_gone(const std::string& subject) {
  return format_error(subject +
                      " does not exist, and --existing requires it: it was ended or dropped, or its server "
                      "lost it. To start over, with every key fresh again, leave out --existing");
}

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
