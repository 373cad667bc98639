#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "everseen/redis/served/partition_script.hpp"

namespace everseen::redis {

/// A segment on its way to its full length, before it is published.
struct lengthening {
  segment_id id;
  std::uint64_t epoch = 0;  ///< that it was planned in
  std::uint64_t bytes = 0;  ///< to be reached now
};

/// A partition's next list of segments.
struct publication {
  std::uint32_t partition = 0;
  std::uint64_t epoch = 0;  ///< that it follows
  std::uint64_t next_epoch = 0;
  std::string manifest;
  segment_id added;
  std::uint64_t bytes = 0;  ///< length of the added segment
  std::vector<segment_id> expired;
};

/// How a client makes the segments that keys need where the server does not make them by itself. Each
/// question is put by the first function of a pair and its answer given to the second.
class segment_growth {
 public:
  explicit segment_growth(const filter_identity& f) : filter_(f), script_(f) {}

  /// Makes a segment that is not published yet at least so long, filling up with zeros; never changes what is
  /// there. Until it is published nobody else would ever find it, so it has a time limit.
  [[nodiscard]] request lengthen(const lengthening& l) const;
  [[nodiscard]] meaning lengthened(const lengthening& l, const answer& a);

  /// Replaces the list of segments, if the epoch is still the one that the next list follows.
  [[nodiscard]] request publish(const publication& p) const;
  [[nodiscard]] meaning published(const publication& p, const answer& a);

 private:
  const filter_identity& filter_;
  partition_script script_;
};

}  // namespace everseen::redis
