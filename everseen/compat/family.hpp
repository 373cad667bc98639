#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// The hash families of other systems by name: from a key to its bits, whichever it is.
namespace everseen::compat {

enum class family : std::uint8_t { gozero, bkdr, bkdr_php, uid_php, guava32, guava64, redisbloom };

/// What is fixed about a family.
struct family_facts {
  family which;
  std::string_view name;     ///< as users write it
  std::string_view of;       ///< the system, in a few words
  unsigned standard_probes;  ///< what that system takes when nothing else is asked for
  unsigned max_probes;       ///< equal to standard_probes where it cannot be chosen
  std::uint64_t fixed_bits;  ///< 0 where it can be chosen
};

[[nodiscard]] std::span<const family_facts> all_families() noexcept;
[[nodiscard]] const family_facts& facts(family which) noexcept;
[[nodiscard]] std::optional<family> parse_family(std::string_view name) noexcept;

/// What, beside the key, decides which bits are a key's.
struct scheme {
  family which = family::guava64;
  std::uint64_t bits = 0;
  unsigned probes = 0;
  friend bool operator==(const scheme&, const scheme&) = default;
};

/// @throws parameter_error  a number that this family cannot have
void validate(const scheme& s);

/// What users of such a filter should know of its hashes, in a sentence; empty if they are as good as the
/// formula says. doc/hashing.md, "How good they are", has the measurements.
[[nodiscard]] std::string_view doubt_about(const scheme& s) noexcept;

/// The bits of a key, as the family numbers them, in the order of its probes.
/// @param key  for Guava what a funnel gave    @pre validate(s) passed, out.size() == s.probes
/// Cost: see the family's header. Threads: any.
void positions(const scheme& s, std::string_view key, std::span<std::uint64_t> out) noexcept;

/// What the positions of a key are made from, as its system would print it: a number a probe (gozero, bkdr,
/// bkdr-php, uid-php), the 16 bytes of the hash in hexadecimal (guava32, guava64), or two hexadecimal words
/// (redisbloom).
/// @param probes  how many, where each has its own    @pre 0 < probes <= facts(which).max_probes
[[nodiscard]] std::string digest_text(family which, unsigned probes, std::string_view key);

}  // namespace everseen::compat
