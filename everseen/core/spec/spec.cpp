#include "everseen/core/spec/spec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/layout/foreign.hpp"
#include "everseen/core/layout/sizing.hpp"
#include "everseen/core/spec/growth.hpp"

namespace everseen {

namespace {

constexpr std::array<std::pair<growth_kind, std::string_view>, 3> growth_names = {{
    {growth_kind::grow, "grow"},
    {growth_kind::refuse, "refuse"},
    {growth_kind::overfill, "overfill"},
}};

/// The shortest decimal that parses to the same number.
template <typename Number>
std::string decimal(Number value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

template <typename Number>
[[noreturn]] void out_of_range(std::string_view name, Number value, Number low, Number high,
                               std::string_view advice) {
  throw parameter_error(std::string(name) + " " + decimal(value) + " is not within " + decimal(low) + " to " +
                        decimal(high) + "; " + std::string(advice));
}

/// Written so that NaN is outside every range.
template <typename Number>
void require(std::string_view name, Number value, Number low, Number high, std::string_view advice) {
  if (!(value >= low && value <= high)) out_of_range(name, value, low, high, advice);
}

/// Foreign filters may have error rates above 0.5, and such a filter can be imported.
void validate_rate(layout_kind layout, double error_rate) {
  const double most = is_foreign(layout) ? std::nextafter(1.0, 0.0) : sizing::max_error_rate;
  require("error_rate", error_rate, sizing::min_error_rate, most,
          "give the share of new keys that may be called seen, such as 0.000001");
}

template <typename Kind>
void require_known(std::string_view name, Kind kind, const char* choices) {
  if (to_string(kind) == "invalid")
    throw parameter_error(std::string(name) + " number " + decimal(static_cast<unsigned>(kind)) + " is not " +
                          choices + "; this filter may come from a newer version");
}

void validate_names(const spec& s) {
  require_known("layout", s.layout, "one of 1 to 8");
  require_known("hash", s.hash, "known");
  require_known("growth", s.growth, "one of 1 to 3");
}

void validate_probes(layout_kind layout, unsigned probes) {
  if (is_foreign(layout))
    return require("probes", probes, 1U, max_probes, "ask for an error rate that needs fewer");
  if (layout == layout_kind::classic)
    return require("probes", probes, 1U, max_probes,
                   "leave them out to get the number that needs the fewest bits");
  if (probes != probes_of(layout, 0))
    throw parameter_error("probes " + decimal(probes) + " do not fit layout " +
                          std::string(to_string(layout)) + ", which always sets " +
                          decimal(probes_of(layout, 0)) +
                          " bits a key; leave probes out, or ask for layout classic");
}

void validate_window(const window_spec& w) {
  require("slices", w.slices, 1U, max_slices,
          "10 is a good number: memory is returned a tenth of the window at a time");
  const std::int64_t width = w.width.count();
  const std::int64_t slices = w.slices;
  if (width < slices)
    throw parameter_error("a window of " + decimal(width) + " ms cannot have " + decimal(slices) +
                          " slices; make it at least 1 ms a slice, or use fewer slices");
  if (width % slices != 0)
    throw parameter_error("a window of " + decimal(width) + " ms is not divisible into " + decimal(slices) +
                          " slices of whole milliseconds; the nearest below that is: " +
                          decimal(width - width % slices) + " ms");
}

void refuse_in(layout_kind layout, const std::string& problem) {
  throw parameter_error("a filter of layout " + std::string(to_string(layout)) + " " + problem);
}

/// Restrictions of other systems' filters.
void validate_foreign(const spec& s) {
  const foreign_rules& rules = s.foreign;
  const bool redisbloom = s.layout == layout_kind::redisbloom;
  if (s.hash != foreign_sizes::hash_of(s.layout))
    refuse_in(s.layout, "always has the hash " + std::string(to_string(foreign_sizes::hash_of(s.layout))));
  if (s.seed != hash_seed{}) refuse_in(s.layout, "has no seed");
  if (s.window) refuse_in(s.layout, "has no window");
  if (s.partitions != 1) refuse_in(s.layout, "has one partition");
  if ((s.growth == growth_kind::overfill) == redisbloom)
    refuse_in(s.layout, redisbloom ? "grows or refuses keys, and cannot be overfilled"
                                   : "does not grow: it is overfilled");
  if (to_string(rules.funnel) == "invalid" || (redisbloom && rules.funnel != funnel_kind::bytes))
    refuse_in(s.layout, "has no such funnel");
  if (!redisbloom && (rules.expansion != 0 || rules.powers_of_two))
    refuse_in(s.layout, "has no rules of growth");
  if (redisbloom && s.growth == growth_kind::grow && rules.expansion == 0)
    refuse_in(s.layout, "cannot grow by a factor of 0");
  const std::uint64_t most = redisbloom ? std::uint64_t{1} << 59 : foreign_sizes::max_guava_words * 8;
  if (rules.first_bytes == 0 || rules.first_bytes % length_unit(s.layout) != 0 || rules.first_bytes > most)
    refuse_in(s.layout, "cannot be " + decimal(rules.first_bytes) + " bytes long");
}

/// Whether digests of 64 bits are enough. Two keys with the same digest are one key, and a key that was never
/// added has the digest of one of n others with probability n / 2^64. So at capacity one false positive in
/// 2^(64 - bits) has this cause.
bool fits_64_bits(const spec& s, int bits) {
  return static_cast<double>(s.capacity) <= std::ldexp(s.error_rate, bits);
}

void validate_own(const spec& s) {
  if (!is_own(s.hash))
    refuse_in(s.layout, "has no use for the hash " + std::string(to_string(s.hash)) +
                            ", which is other systems'; take " + asked_hash_names(" or "));
  if (is_short(s.hash) && !fits_64_bits(s, 57))
    refuse_in(s.layout, "needs a hash of 128 bits for so many keys at that error rate; take xxh3");
  if (s.foreign != foreign_rules{}) refuse_in(s.layout, "has no rules of another system");
}

/// Checks everything except the first layer, which can be planned only for a spec that passes this.
void validate_numbers(const spec& s) {
  require("capacity", s.capacity, std::uint64_t{1}, max_capacity,
          "give the number of different keys you expect");
  validate_names(s);
  validate_rate(s.layout, s.error_rate);
  validate_probes(s.layout, s.probes);
  if (s.window) validate_window(*s.window);
  require("partitions", s.partitions, 1U, max_partitions,
          "leave them out to get one for each 4 to 8 MiB, at most 64");
  is_foreign(s.layout) ? validate_foreign(s) : validate_own(s);
}

/// Partitions of 4 to 8 MiB: a batch sorted by partition then works in a part of memory that the caches and
/// the TLB can hold, each segment still consists of huge pages, and concurrent adds rarely need the same
/// lock. With 64 partitions, threads of any machine rarely share a lock, and more would only cost memory and
/// bookkeeping. So a large filter gets larger segments.
std::uint32_t choose_partitions(spec s) {
  s.partitions = 1;
  constexpr std::uint64_t good_bytes = std::uint64_t{4} << 20;
  constexpr std::uint64_t most = 64;
  const std::uint64_t bytes = growth::plan_layer(s, 0).shape.bytes;
  return static_cast<std::uint32_t>(std::bit_floor(std::clamp<std::uint64_t>(bytes / good_bytes, 1, most)));
}

/// @param size  of the first layer
void set_first_layer(spec& s, const foreign_sizes::wanted_size& size) {
  const double most_bits = 0x1p62;
  if (size.words < 1) refuse_in(s.layout, "needs no bits for that error rate; ask for a lower one");
  if (size.words * 64 > most_bits) refuse_in(s.layout, "would exceed 2^62 bits; ask for fewer keys");
  validate_probes(s.layout, static_cast<unsigned>(std::min(size.probes, 1e6)));
  s.probes = static_cast<std::uint8_t>(size.probes);
  s.foreign.first_bytes = static_cast<std::uint64_t>(size.words) * 8;
}

spec make_foreign_spec(const spec_request& request) {
  spec s;
  s.layout = *request.layout;
  s.capacity = request.capacity.value_or(default_capacity);
  s.error_rate = request.error_rate.value_or(default_error_rate);
  s.hash = foreign_sizes::hash_of(s.layout);
  s.window = request.window;
  s.partitions = request.partitions.value_or(1);
  s.judge = request.judge.value_or(judge_kind::server);
  if (request.probes) refuse_in(s.layout, "takes its probes from the error rate; leave them out");
  s.foreign.funnel = request.funnel;
  if (s.layout == layout_kind::redisbloom) {
    s.growth = request.growth.value_or(growth_kind::grow);
    s.foreign.expansion = request.expansion;
    s.foreign.powers_of_two = request.powers_of_two;
    const bool grows = s.growth == growth_kind::grow;
    const double first_rate = grows ? s.error_rate / 2 : s.error_rate;
    const auto first = foreign_sizes::redisbloom_size({s.capacity, first_rate}, s.foreign.powers_of_two);
    s.capacity = first.capacity;  // with the keys gained by rounding up, as RedisBloom reports it
    set_first_layer(s, first.size);
  } else {
    s.growth = growth_kind::overfill;
    set_first_layer(s, foreign_sizes::guava_size({s.capacity, s.error_rate}));
  }
  validate(s);
  return s;
}

}  // namespace

std::string_view to_string(growth_kind kind) noexcept {
  for (const auto& [value, name] : growth_names)
    if (value == kind) return name;
  return "invalid";
}

std::optional<growth_kind> parse_growth_kind(std::string_view name) noexcept {
  for (const auto& [value, known] : growth_names)
    if (known == name) return value;
  return std::nullopt;
}

std::string_view to_string(judge_kind kind) noexcept {
  return kind == judge_kind::client ? "client" : "server";
}

std::optional<judge_kind> parse_judge_kind(std::string_view name) noexcept {
  for (const judge_kind kind : {judge_kind::server, judge_kind::client})
    if (to_string(kind) == name) return kind;
  return std::nullopt;
}

spec make_spec(const spec_request& request) {
  // Checked first, since the planner's choices depend on it.
  const double error_rate = request.error_rate.value_or(default_error_rate);
  validate_rate(request.layout.value_or(layout_kind::classic), error_rate);
  if (request.layout && is_foreign(*request.layout)) return make_foreign_spec(request);
  spec s;
  s.capacity = request.capacity.value_or(default_capacity);
  s.error_rate = error_rate;
  s.layout = request.layout.value_or(sizing::choose_layout(error_rate));
  s.growth = request.growth.value_or(growth_kind::grow);
  s.window = request.window;
  if (s.window && s.window->slices == 0) s.window->slices = default_slices;
  s.partitions = request.partitions.value_or(1);
  s.judge = request.judge.value_or(judge_kind::server);
  // Where clients judge, every fresh key goes to the server and from there to all others. The share of errors
  // is below what sizes are rounded by, and stays small in a filter that grows to a thousand times its
  // capacity.
  const bool shortens = s.judge == judge_kind::client && fits_64_bits(s, 50);
  s.hash = request.hash.value_or(shortens ? hash_kind::xxh3_64 : hash_kind::xxh3);

  const unsigned chosen_probes =
      s.layout == layout_kind::classic ? sizing::best_probes(error_rate) : probes_of(s.layout, 0);
  const unsigned probes = request.probes.value_or(chosen_probes);
  validate_probes(s.layout, probes);  // before the cast to 8 bits
  s.probes = static_cast<std::uint8_t>(probes);

  validate_numbers(s);
  if (!request.partitions) s.partitions = choose_partitions(s);
  validate(s);
  s.seed = request.seed ? *request.seed : random_hash_seed();
  return s;
}

void validate(const spec& s) {
  validate_numbers(s);
  static_cast<void>(growth::plan_layer(s, 0));  // throws if the first layer exceeds all bounds
}

void validate_filter_name(std::string_view name) {
  if (is_name(name)) return;
  throw parameter_error("the name of a filter or a job has 1 to " + decimal(max_name_bytes) + " bytes, not " +
                        decimal(name.size()));
}

namespace {

template <typename Number>
std::string text(Number value) {
  char digits[32];
  return {digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr};
}
std::string text(layout_kind kind) {
  return std::string(to_string(kind));
}
std::string text(hash_kind kind) {
  return std::string(to_string(kind));
}
std::string text(growth_kind kind) {
  return std::string(to_string(kind));
}
std::string text(const std::optional<window_spec>& window) {
  if (!window) return "none";
  return text(window->width.count()) + " ms in " + text(window->slices) + " slices";
}
std::string text(const foreign_rules& rules) {
  return "funnel " + std::string(to_string(rules.funnel)) + ", expansion " + text(rules.expansion) +
         (rules.powers_of_two ? ", powers of two" : ", no powers of two");
}

bool leaves_slices_open(const spec_request& asked) {
  return asked.window && asked.window->slices == 0;
}

/// Compares what was asked for, value by value.
class comparison {
 public:
  template <typename Value>
  void note(std::string_view problem, bool is_asked, const Value& wanted, const Value& has) {
    if (!is_asked || wanted == has) return;
    if (!text_.empty()) text_ += ", ";
    text_ += std::string(problem) + ' ' + text(has) + " instead of " + text(wanted);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_{};
};

}  // namespace

std::string differences(const spec_request& asked, const spec& has) {
  spec_request meant = asked;
  if (leaves_slices_open(asked) && has.window && has.window->width == asked.window->width)
    meant.window = has.window;
  const spec wanted = make_spec(meant);
  comparison all;
  all.note("capacity", asked.capacity.has_value(), wanted.capacity, has.capacity);
  all.note("error_rate", asked.error_rate.has_value(), wanted.error_rate, has.error_rate);
  all.note("layout", asked.layout.has_value(), wanted.layout, has.layout);
  all.note("probes", asked.probes.has_value(), unsigned{wanted.probes}, unsigned{has.probes});
  all.note("hash", asked.hash && !is_as_asked(has.hash, *asked.hash), wanted.hash, has.hash);
  all.note("growth", asked.growth.has_value(), wanted.growth, has.growth);
  all.note("window", asked.window.has_value(), wanted.window, has.window);
  all.note("partitions", asked.partitions.has_value(), wanted.partitions, has.partitions);
  if (!asked.layout || !is_foreign(*asked.layout) || wanted.layout != has.layout) return all.take();
  foreign_rules rules = wanted.foreign;
  rules.first_bytes = has.foreign.first_bytes;  // follows from the capacity and the error rate
  all.note("rules", true, rules, has.foreign);
  return all.take();
}

}  // namespace everseen
