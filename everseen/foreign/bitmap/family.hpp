#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The hash families of other systems: each maps a key to its bits.
namespace everseen::foreign {

enum class family : std::uint8_t { gozero, bkdr, bkdr_php, uid_php, guava32, guava64, redisbloom, redisson };

/// Fixed properties of a family.
struct family_facts {
  family which;
  std::string_view name;     ///< as users type it
  std::string_view system;   ///< the system, in a few words
  unsigned standard_probes;  ///< the default of that system
  unsigned max_probes;       ///< equal to standard_probes if fixed
  std::uint64_t fixed_bits;  ///< 0 if it can be chosen
  std::uint64_t most_bits;   ///< 0 if there is no bound
  /// The number of bits that its hashes can reach, however many the filter has; 0 if all.
  std::uint64_t reachable_bits;
  /// Whether positions of different keys are as good as random numbers.
  bool has_random_positions;
};

[[nodiscard]] std::span<const family_facts> all_families() noexcept;
[[nodiscard]] const family_facts& facts(family which) noexcept;
[[nodiscard]] std::optional<family> parse_family(std::string_view name) noexcept;

/// Everything except the key that determines its bits.
struct scheme {
  family which = family::guava64;
  std::uint64_t bits = 0;
  unsigned probes = 0;
  friend bool operator==(const scheme&, const scheme&) = default;
};

/// @throws parameter_error  a number is outside the limits of this family
void validate(const scheme& s);

/// A one-sentence warning about the hashes of such a filter; empty if they are as good as the formula says.
/// Measurements: doc/hashing.md, "How good they are".
[[nodiscard]] std::string_view warning_about(const scheme& s) noexcept;

/// The bits of a key, in the numbering of the family and the order of its probes.
/// @param key  for Guava the output of a funnel    @pre validate(s) passed, out.size() == s.probes
/// Cost: see the family's header. Threads: any.
void positions(const scheme& s, std::string_view key, std::span<std::uint64_t> out) noexcept;

/// The hash of a key as its system would print it: one number per probe (gozero, bkdr, bkdr-php, uid-php),
/// the 16 bytes of the hash in hexadecimal (guava32, guava64), or two hexadecimal words (redisbloom,
/// redisson).
/// @param probes  for families with one number per probe    @pre 0 < probes <= facts(which).max_probes
[[nodiscard]] std::string digest_text(family which, unsigned probes, std::string_view key);

}  // namespace everseen::foreign
