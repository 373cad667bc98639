#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/jobs/port/source.hpp"
#include "everseen/jobs/redis/redis_stream_group.hpp"

namespace everseen::redis_stream {

/// The consumers that a worker reads as, its own and those of dead workers, and its progress with each.
///
/// Threads: one reads, and only it adds, removes and gives; one other settles and asks for ownership.
class lanes {
 public:
  void add(const consumer_name& as);
  void remove(const std::string& name);
  /// Another process reads as this consumer now. The lane begins again, in a new generation, when this worker
  /// gets it back.
  void begin_again(const consumer_name& as);

  /// Starts after the consumer that was read last: they take turns, so that a lane that never runs dry does
  /// not starve the others, and each lease is renewed in time.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool contains(const std::string& name) const;

  struct place {
    consumer_name as;
    std::uint64_t after = 0;  ///< the last entry that was handed out
  };
  /// @pre contains(name)
  [[nodiscard]] place place_of(const std::string& name) const;

  /// Records the result of a reading.
  /// @param begins  the lease is new    @param nothing  there were no entries
  /// @return whether nothing is left, and everything handed out is settled
  bool note(const std::string& name, bool begins, bool nothing);
  /// Whether the last reading found nothing left; also true of a consumer that is not there.
  [[nodiscard]] bool is_read(const std::string& name) const;

  /// Turns the records that were read into a batch of the lane.    @pre there are some
  void give(const std::string& name, source_batch& into);

  /// The entries of a lane before a position, which were handed out and are settled now; each is returned
  /// once.
  [[nodiscard]] std::vector<std::uint64_t> take_settled(const checkpoint& reached);
  [[nodiscard]] source::ownership ownership_of(std::string_view lane, std::uint64_t generation) const;

 private:
  struct state {
    consumer_name as;
    std::uint64_t after = 0;
    std::deque<std::uint64_t> given{};  // and not settled
    std::uint64_t generation = 0;       // increases with each lease of this worker; 0: none
    bool begins = true;                 // nothing was handed out since the lease was taken
    bool read = false;
  };

  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, state> all_{};
  std::uint64_t generations_ = 0;
  std::string last_read_{};
};

}  // namespace everseen::redis_stream
