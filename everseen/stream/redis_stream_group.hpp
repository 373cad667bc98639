#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/redis/transport/session.hpp"
#include "everseen/stream/redis_stream_url.hpp"

namespace everseen::redis_stream {

/// A consumer of a group, and the keys and the lane that go with it.
struct consumer_name {
  std::string name;
  std::string lane;   ///< stream/group/name
  std::string lease;  ///< the key of its lease
};

/// The commands that a group of a stream is read with.
///
/// All ride an outage out for the URL's retry_for, or as wait_with() says, and may be run again.
/// @throws backend_error  of every function: no answer, or a refusal    Threads: one a session.
class group {
 public:
  group(const redis_stream_url& url, const redis::redis_url& server);

  /// @pre no call is under way
  void wait_with(const std::shared_ptr<patience>& p) {
    reading_.wait_with(p);
    settling_.wait_with(p);
  }

  [[nodiscard]] consumer_name named(const std::string& consumer) const;

  /// Makes the group, unless there is one.    @throws parameter_error  there is no such stream
  void make();

  struct reading {
    bool held = false;    ///< else somebody else reads as this consumer
    bool begins = false;  ///< the lease is new: these are the oldest that are pending
    bool are_new = false;
    redis::reply entries{};
  };
  /// Prolongs the lease, or takes it if nobody has it, and reads what is pending behind `after`; if nothing
  /// is, and `new_ones`, what no consumer was given yet.
  [[nodiscard]] reading read(const consumer_name& as, std::uint64_t after, std::string_view count,
                             bool new_ones);
  /// Keeps a lease that is ours, if it can: the next reading tells.
  void prolong(const consumer_name& as);
  /// Gives a lease back, if it can: it ends by itself, too.
  void release(const consumer_name& as);

  struct view {
    std::int64_t length = 0;
    std::int64_t lag = -1;  ///< entries that no consumer was given; -1: the server does not know
    struct waiting {
      std::string consumer;
      std::chrono::milliseconds idle{};  ///< since it last asked for something
    };
    std::vector<waiting> pending{};  ///< who has entries pending
  };
  [[nodiscard]] view look();

  /// Entries that are done with, by their positions. The one function for another thread beside the reading
  /// one: it has a session of its own.
  void acknowledge(const std::vector<std::uint64_t>& positions) { acknowledge_by(settling_, positions); }
  /// The same, for the thread that reads.
  void pass_over(const std::vector<std::uint64_t>& positions) { acknowledge_by(reading_, positions); }

 private:
  redis::reply ask(std::initializer_list<std::string_view> words) {
    return reading_.ask(where_, words, true);
  }

  void acknowledge_by(redis::session& with, const std::vector<std::uint64_t>& positions);

  redis_stream_url url_;
  redis::route where_;
  redis::session reading_, settling_;
};

}  // namespace everseen::redis_stream
