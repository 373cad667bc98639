#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "everseen/core/hash/digest.hpp"
#include "everseen/core/layout/layout.hpp"

namespace everseen {

/// A point in time of the stream: the time of the event, or the caller's clock. Milliseconds since 1970 UTC.
using event_time = std::chrono::sys_time<std::chrono::milliseconds>;

/// What a partition does when it reaches its capacity. The values are stored.
enum class growth_kind : std::uint8_t {
  grow = 1,      ///< add a layer of twice the capacity and half the error rate; the promised rate holds
  refuse = 2,    ///< refuse further keys with full_error
  overfill = 3,  ///< keep adding; the error rate rises above the promise
};

[[nodiscard]] std::string_view to_string(growth_kind kind) noexcept;
[[nodiscard]] std::optional<growth_kind> parse_growth_kind(std::string_view name) noexcept;

/// Who judges keys, and so keeps the bits, of a filter on servers. The values are stored.
enum class judge_kind : std::uint8_t {
  server = 0,  ///< its server, which has the module
  client = 1,  ///< each client; the server keeps the order in which keys were added
};

[[nodiscard]] std::string_view to_string(judge_kind kind) noexcept;
[[nodiscard]] std::optional<judge_kind> parse_judge_kind(std::string_view name) noexcept;

/// The number of slices of a window, unless the caller chooses another.
inline constexpr std::uint32_t default_slices = 10;

/// A sliding window over event time. A key counts as seen for at least `width` and at most `width` plus one
/// slice (width / slices). Memory is freed slice by slice.
///
///     window_spec{10min}      window_spec{24h, 24}
struct window_spec {
  std::chrono::milliseconds width{0};
  std::uint32_t slices = default_slices;

  [[nodiscard]] std::chrono::milliseconds slice_width() const noexcept { return width / slices; }
  friend constexpr bool operator==(const window_spec&, const window_spec&) = default;
};

/// The other system's rules for a filter with a foreign layout, by which keys are added to it. Empty for all
/// other filters.
struct foreign_rules {
  funnel_kind funnel = funnel_kind::bytes;  ///< Guava: how a key is converted to the bytes that are hashed
  bool powers_of_two = false;     ///< RedisBloom: bits are rounded up to a power of two (no NOROUND)
  std::uint32_t expansion = 0;    ///< RedisBloom: factor between the capacities of consecutive layers
  std::uint64_t first_bytes = 0;  ///< length of the first layer
  friend bool operator==(const foreign_rules&, const foreign_rules&) = default;
};

/// The parameters that a filter was created with. They never change.
struct spec {
  std::uint64_t capacity = 0;  ///< keys (with a window: per width); a first guess with growth, else the limit
  double error_rate = 0;       ///< probability, over the whole filter, that a key never added is called seen
  layout_kind layout = layout_kind::line_8x64;
  std::uint8_t probes = 0;  ///< bits set per key
  hash_kind hash = hash_kind::xxh3;
  hash_seed seed{};
  growth_kind growth = growth_kind::grow;
  std::optional<window_spec> window;
  std::uint32_t partitions = 1;
  foreign_rules foreign{};
  judge_kind judge = judge_kind::server;  ///< meaningless without a server

  friend bool operator==(const spec&, const spec&) = default;
};

inline constexpr std::uint64_t default_capacity = 1'000'000;
inline constexpr double default_error_rate = 1e-6;

/// The caller's request; the planner chooses whatever is left empty.
///
///     make_spec({.capacity = 10'000'000, .error_rate = 1e-6, .window = window_spec{10min}})
///
/// A foreign layout fixes hash, probes and partitions, and Guava's layouts also growth. A requested hash or
/// seed is ignored, and so is growth for Guava. Probes, a window or several partitions are a parameter_error.
struct spec_request {
  std::optional<std::uint64_t> capacity{};  ///< keys (with a window: per width); default_capacity
  std::optional<double> error_rate{};       ///< default_error_rate
  std::optional<layout_kind> layout{};      ///< default: sizing::choose_layout
  std::optional<unsigned> probes{};         ///< classic only
  /// default: xxh3; where clients judge, xxh3_64 if the capacity is at most error rate * 2^50
  std::optional<hash_kind> hash{};
  std::optional<hash_seed> seed{};      ///< default: random
  std::optional<growth_kind> growth{};  ///< default: grow
  /// default: keys never expire. 0 slices: default_slices, or any that an existing filter has
  std::optional<window_spec> window{};
  std::optional<std::uint32_t> partitions{};
  funnel_kind funnel = funnel_kind::bytes;  ///< Guava only
  std::uint32_t expansion = 2;              ///< RedisBloom only
  bool powers_of_two = false;               ///< RedisBloom only; see foreign_rules
  /// On Redis only. Nothing: the servers if all of them have the module, else clients; make_spec uses
  /// `server`.
  std::optional<judge_kind> judge{};
};

inline constexpr std::uint64_t max_capacity = std::uint64_t{1} << 48;
inline constexpr std::uint32_t max_partitions = 65'536;
inline constexpr std::uint32_t max_slices = 1'000;

/// Fills in everything that the request leaves open, and checks the result.
/// @throws parameter_error  names the invalid number and its bounds
[[nodiscard]] spec make_spec(const spec_request& request);

/// How a filter differs from a request, for example "capacity 1000 instead of 2000, growth refuse instead of
/// grow"; empty if it does not.
///
/// Compares every requested value that affects answers. Values left empty, the seed, and who judges keys are
/// not compared.
[[nodiscard]] std::string differences(const spec_request& asked, const spec& has);

/// Checks a spec from outside (a file, a server).
/// @throws parameter_error  as make_spec
void validate(const spec& s);

/// Checks the name of a filter or a job: 1 to max_name_bytes of any value.
/// @throws parameter_error  names the length that is not allowed
void validate_filter_name(std::string_view name);

}  // namespace everseen
