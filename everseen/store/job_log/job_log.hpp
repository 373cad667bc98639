/// The bytes of a job's journal: doc/format.md, "Journal of a job".

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/base/bytes.hpp"
#include "everseen/core/base/checksum.hpp"
#include "everseen/core/format/image.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/embedded/embedded_ledger.hpp"

namespace everseen::job_log {

inline constexpr char step_kind = 'e';
inline constexpr char lane_kind = 'l';
inline constexpr char marks_kind = 'c';

/// The head of a journal, without its two lengths.
struct head {
  std::string description{};
  std::string job{};            ///< name of the job
  image::filter_id filter{};    ///< the filter that it belongs to
  boot_id boot{};               ///< boot in which it was opened
  bool synced_always = false;   ///< every record is synced before it is acknowledged
  bool may_lack_steps = false;  ///< a power loss may have taken steps, and no settlement followed
};

/// Builds a journal as bytes to be appended. Each record's checksum covers that of the previous record, so
/// records are valid only in order.
class writer {
 public:
  /// @return the head, with both lengths set to its own size
  [[nodiscard]] std::string begin(const head& h);
  /// The bytes of the next record.
  /// @param kind  one of the above    @param body  from the functions below
  [[nodiscard]] std::string record(char kind, std::string_view body) const;
  /// Confirms that the record was written; the next one follows it.
  void note_written(std::string_view record);

 private:
  std::uint64_t last_ = 0;  // checksum of the last record
};

/// Minimum lengths of a journal. Synced bytes are also acknowledged.
struct lengths {
  std::size_t acknowledged = 0;
  std::size_t synced = 0;  ///< on the disk
};
/// Offset and encoding of the lengths. One write replaces both, so they are never read apart.
inline constexpr std::size_t lengths_at = 56;
inline constexpr std::size_t lengths_bytes = 16;
[[nodiscard]] std::array<char, lengths_bytes> encode(const lengths& l) noexcept;

[[nodiscard]] std::string encode_step(const job_memory::step& s);
/// The complete record of a lane; empty if nothing was judged.
[[nodiscard]] std::string encode_lane(std::uint32_t partition, std::string_view lane,
                                      const lane_record& record);
[[nodiscard]] std::string encode_marks(std::span<const checkpoint> marks);

/// The decoded content of a journal.
struct content {
  head begun{};
  job_memory::lanes records{};
  job_memory::checkpoints reached{};
  /// A key of a fresh event, which may not have been added yet.
  struct key {
    std::uint32_t partition = 0;
    digest hashed{};
    event_time when{};
  };
  std::vector<key> keys{};
  std::size_t bytes = 0;  ///< size of the valid part; nothing after it was acknowledged
};

/// The filter and machine on which a journal is read.
struct circumstances {
  image::filter_id filter{};
  std::uint32_t partitions = 0;
  bool closed_in_order = false;  ///< the filter was closed properly
  boot_id boot{};                ///< the current boot
};

/// @throws format_error  the journal has another version, is too short, is damaged in its acknowledged part,
///   or belongs to another filter; or a valid record has invalid content
[[nodiscard]] content decode(std::string_view bytes, const circumstances& current);

/// The layout of a journal, shared by encoder and decoder: doc/format.md, "Journal of a job".

inline constexpr std::string_view magic = "EVSNjrnl";
inline constexpr std::uint32_t version = 2;
inline constexpr std::size_t head_bytes = 72;   // before the description
inline constexpr std::size_t record_bytes = 5;  // before the body
inline constexpr std::size_t checksum_bytes = 8;
inline constexpr std::size_t length_bytes = lengths_bytes / 2;
inline constexpr std::uint64_t length_mask = (std::uint64_t{1} << 48) - 1;
enum flags : std::uint32_t { synced_always = 1, may_lack_steps = 2 };

template <typename Integer>
void append(std::string& out, Integer value) {
  char bytes[sizeof value];
  store_le(bytes, value);
  out.append(bytes, sizeof bytes);
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

}  // namespace everseen::job_log
