#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/stream/redis_stream_group.hpp"
#include "everseen/stream/source.hpp"

namespace everseen::redis_stream {

/// The consumers that a worker reads as, itself and such as have died, and how far it is with each.
///
/// Threads: one reads, which alone adds, removes and gives; any one other settles and asks for tenures.
class lanes {
 public:
  void add(const consumer_name& as);
  void remove(const std::string& name);
  /// Of one that somebody else reads as now: it begins anew, in another turn, when it is ours again.
  void begin_again(const consumer_name& as);

  /// Those behind the one that was read last come first: they take turns, so that none waits for another that
  /// never runs dry, and each lease is prolonged in time.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] bool contains(const std::string& name) const;

  struct place {
    consumer_name as;
    std::uint64_t after = 0;  ///< the last entry that was given out
  };
  /// @pre contains(name)
  [[nodiscard]] place place_of(const std::string& name) const;

  /// What a reading has found.
  /// @param begins  the lease is new    @param nothing  there were no entries
  /// @return whether nothing is left, and all that was given is settled
  bool note(const std::string& name, bool begins, bool nothing);
  /// Whether nothing was left, when it was read last; also of one that is not there.
  [[nodiscard]] bool is_read(const std::string& name) const;

  /// Makes a batch of the lane's of records that were read.    @pre there are some
  void give(const std::string& name, source_batch& into);

  /// The entries of a lane before a position, which were given out and are settled now; each is told once.
  [[nodiscard]] std::vector<std::uint64_t> take_settled(const checkpoint& reached);
  [[nodiscard]] source::tenure tenure_of(std::string_view lane, std::uint64_t turn) const;

 private:
  struct state {
    consumer_name as;
    std::uint64_t after = 0;
    std::deque<std::uint64_t> given{};  // and not settled
    std::uint64_t turn = 0;             // grows with each lease of ours; 0: none
    bool begins = true;                 // nothing was given out since its lease is ours
    bool read = false;
  };

  mutable std::mutex mutex_;  // guards what follows
  std::map<std::string, state> all_{};
  std::uint64_t turns_ = 0;
  std::string last_read_{};
};

}  // namespace everseen::redis_stream
