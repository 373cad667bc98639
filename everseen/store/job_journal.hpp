#pragma once

#include <array>
#include <string>
#include <string_view>

#include "everseen/core/image.hpp"
#include "everseen/store/disk.hpp"
#include "everseen/store/job_memory.hpp"

/// The bytes of a job's journal: doc/format.md, "Journal of a job".
namespace everseen::job_journal {

inline constexpr char step_kind = 'e';
inline constexpr char lane_kind = 'l';
inline constexpr char marks_kind = 'c';

/// What a journal begins with, but for its two lengths.
struct head {
  std::string description{};
  std::string job{};            ///< its name
  image::filter_id filter{};    ///< to which it belongs
  boot_id boot{};               ///< in which it was opened
  bool synced_always = false;   ///< each record before it is acknowledged
  bool may_lack_steps = false;  ///< a power loss may have taken some, and no settlement came since
};

/// A journal that is being written, as bytes that go to its end. Records are sound only in their order: each
/// has the checksum of the one before in its own.
class writer {
 public:
  /// @return the head, and both lengths for nothing but the head
  [[nodiscard]] std::string begin(const head& h);
  /// What is to follow.
  /// @param kind  one of the above    @param body  from the functions below
  [[nodiscard]] std::string record(char kind, std::string_view body) const;
  /// The record is in place: the next one comes behind it.
  void went_on(std::string_view record);

 private:
  std::uint64_t last_ = 0;  // checksum
};

/// How long a journal is at least. What is synced is acknowledged.
struct lengths {
  std::size_t acknowledged = 0;
  std::size_t synced = 0;  ///< on the disk
};
/// Where a journal has them, and as what: one write replaces both, so nobody finds one without the other.
inline constexpr std::size_t lengths_at = 56;
inline constexpr std::size_t lengths_bytes = 16;
[[nodiscard]] std::array<char, lengths_bytes> encode(const lengths& l) noexcept;

[[nodiscard]] std::string encode_step(const job_memory::step& s);
/// The whole of what is remembered of a lane; empty where nothing was judged.
[[nodiscard]] std::string encode_lane(std::uint32_t partition, std::string_view lane,
                                      const lane_record& record);
[[nodiscard]] std::string encode_marks(std::span<const checkpoint> marks);

/// What a journal says.
struct content {
  head begun{};
  job_memory::lanes records{};
  job_memory::checkpoints reached{};
  /// The keys of fresh events, some of which may not have been added.
  struct key {
    std::uint32_t partition = 0;
    digest hashed{};
    event_time when{};
  };
  std::vector<key> keys{};
  std::size_t bytes = 0;  ///< up to where it is whole: nothing that follows was acknowledged
};

/// What is known of a journal's filter and machine.
struct circumstances {
  image::filter_id filter{};
  std::uint32_t partitions = 0;
  bool closed_in_order = false;  ///< the filter was
  boot_id boot{};                ///< of this moment
};

/// @throws format_error  it is of another version; shorter than it must be, or damaged up to
/// there; or of another filter; or a sound record makes no sense
[[nodiscard]] content decode(std::string_view bytes, const circumstances& now);

}  // namespace everseen::job_journal
