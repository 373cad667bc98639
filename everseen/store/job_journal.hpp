#pragma once

#include <string>
#include <string_view>

#include "everseen/store/job_memory.hpp"

/// The bytes of a job's journal: doc/format.md, "Journal of a job".
namespace everseen::job_journal {

inline constexpr char step_kind = 'e';
inline constexpr char lane_kind = 'l';
inline constexpr char marks_kind = 'c';

/// What a journal begins with.
[[nodiscard]] std::string encode_head(std::string_view description);
/// What is to follow.
/// @param kind  one of the above    @param body  from the functions below
[[nodiscard]] std::string encode_record(char kind, std::string_view body);
[[nodiscard]] std::string encode_step(const job_memory::step& s);
/// The whole of what is remembered of a lane, kind and all; empty where nothing was judged.
[[nodiscard]] std::string encode_record_of(std::uint32_t partition, std::string_view lane,
                                           const lane_record& record);
[[nodiscard]] std::string encode_marks(std::span<const checkpoint> marks);

/// What a journal says.
struct content {
  std::string description{};
  job_memory::lanes records{};
  job_memory::checkpoints reached{};
  /// The keys of fresh events, some of which may not have been added.
  struct key {
    std::uint32_t partition = 0;
    digest hashed{};
    event_time when{};
  };
  std::vector<key> keys{};
  std::size_t bytes = 0;  ///< up to where it is whole: what follows was cut off
};
/// @param partitions  of the filter
/// @throws format_error  it is of another version, or its head is damaged, or a record with whole ones
/// behind it; or a whole one makes no sense
[[nodiscard]] content decode(std::string_view bytes, std::uint32_t partitions);

}  // namespace everseen::job_journal
