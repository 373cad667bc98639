#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/store/journal/job_journal.hpp"

/// The layout of a journal, shared by encoder and decoder: doc/format.md, "Journal of a job".
namespace everseen::job_journal {

inline constexpr std::string_view magic = "EVSNjrnl";
inline constexpr std::uint32_t version = 2;
inline constexpr std::size_t head_bytes = 72;   // before the description
inline constexpr std::size_t record_bytes = 5;  // before the body
inline constexpr std::size_t checksum_bytes = 8;
inline constexpr std::size_t length_bytes = lengths_bytes / 2;
inline constexpr std::uint64_t length_mask = (std::uint64_t{1} << 48) - 1;
enum flags : std::uint32_t { synced_always = 1, may_lack_steps = 2 };

template <typename Integer>
void append(std::string& to, Integer value) {
  char bytes[sizeof value];
  store_le(bytes, value);
  to.append(bytes, sizeof bytes);
}

inline std::uint64_t checksum_of(std::string_view bytes) {
  return checksum(std::as_bytes(std::span(bytes)));
}

/// Excludes the lengths, which change in place and have their own check.
inline std::uint64_t checksum_of_head(std::string_view bytes) {
  std::string covered(bytes.substr(0, lengths_at));
  covered += bytes.substr(head_bytes);
  return checksum_of(covered);
}

inline std::uint64_t checksum_of_record(std::uint64_t before, std::string_view record) {
  std::string covered;
  covered.reserve(sizeof before + record.size());
  append(covered, before);
  covered += record;
  return checksum_of(covered);
}

}  // namespace everseen::job_journal
