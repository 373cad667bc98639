#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/redis/limited_wait.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

// What is done to a partition as a whole, while others use it. Each is one step for them: it moves the epoch
// on, so that nobody goes on with a plan from before. All need scripts.

/// Somebody whose step was refused, as the partition had changed since it was looked at.
class contention {
 public:
  contention(const remote_filter& f, std::uint32_t partition)
      : state_(f.keys.state(f.generation, partition)) {}

  /// Lets others go first, before another attempt.
  /// @throws backend_error  they were faster for ten seconds
  void yield();

 private:
  std::string state_;
  limited_wait wait_{std::chrono::seconds(10)};
};

/// Forgets all keys.
/// @throws format_error  the state is missing or damaged    @throws backend_error
void empty_partition(session& with, const remote_filter& f, std::uint32_t partition);

/// Changes nothing, but lets nobody go on with a plan from before.    @throws  as empty_partition
void renew_epoch(session& with, const remote_filter& f, std::uint32_t partition);

/// Tells everybody who adds keys that they must be added to the generation `next`, too; 0: no longer.
/// @throws  as empty_partition
void announce(session& with, const remote_filter& f, std::uint32_t partition, std::uint64_t next);

/// Tells who opened the filter by another name that it has this one.
/// @param is_still_so  asked between the look at the partition and the step, so that who is late with an
/// older
///                     name changes nothing
/// @return what that said    @throws  as empty_partition
bool call_partition(session& with, const remote_filter& f, std::uint32_t partition, const std::string& name,
                    const std::function<bool()>& is_still_so);

/// Lets all keys of a partition end at one moment; nothing: never. Where a later end was told already, or the
/// partition is gone, nothing is done.
/// @param number  of the end, as the header counts them    @throws  as empty_partition
void end_partition(session& with, const remote_filter& f, std::uint32_t partition, std::uint64_t number,
                   std::optional<event_time> when);

/// Lets all keys of a partition of a new generation live as long as the filter.
/// @throws  as empty_partition; also where a segment is missing or has another length
void make_lasting(session& with, const remote_filter& f, std::uint32_t partition);

/// Sends everybody to the next generation from now on. What is there can still be looked at until `until`.
/// Nothing is done where it has been closed, or is gone.
/// @throws  as empty_partition
void close_partition(session& with, const remote_filter& f, std::uint32_t partition, event_time until);

/// Adds bits to a segment, page by page, and so many to its count of keys.
/// @throws format_error  the segment has another length    @throws backend_error
void merge_bits(session& with, const remote_filter& f, const segment_id& id, std::span<const std::byte> bits,
                std::uint64_t keys);

/// Removes a partition, or all of a filter's, whatever is left of them.
/// @throws backend_error
void unlink_partition(session& with, const remote_filter& f, std::uint32_t partition);
void unlink_partitions(session& with, const remote_filter& f);

using header_fields = std::vector<std::pair<std::string_view, std::string>>;
/// Changes a header if it is as believed; the empty text stands for no field.
/// @return whether it was    @throws backend_error
bool change_header(session& with, const std::string& key, const header_fields& if_so,
                   const header_fields& changes);
/// Unlinks a header or sign if it is as believed.
/// @return whether it was    @throws backend_error
bool remove_header_if(session& with, const route& to, const header_fields& if_so);

}  // namespace everseen::redis
