#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "everseen/serve/base/command.hpp"

namespace everseen::serve {

/// Requests that run once, however often a client sends them: batches of keys, and changes of filters.
///
/// A client whose connection ended does not know whether its request was run. If it sent a batch again as a
/// new one, keys that the first attempt added would be `seen`; a second drop might drop a filter that another
/// client has created since. So it numbers its requests within a session, which outlives connections, and a
/// request that arrives again gets its first answer. The requests of a session run in the order of their
/// numbers, on whatever connection they arrive. A batch that fails ends its session: a later one may have
/// been sent already, and must not add a repeat of a key before its first occurrence. A request that could
/// not begin has not failed: its number is still free.
///
/// Sessions are in memory. They end with the server, when no request has arrived for a day, and, the longest
/// unused one first, before all of them take more than 64 MiB. Requests of an ended session are refused,
/// never run, so the client knows that the outcome is unknown. Threads: any number.
class request_sessions {
 public:
  using clock = std::chrono::steady_clock;

  /// The answer to a request, as bytes of the protocol.
  struct answer {
    std::string reply;
    bool ends_session = false;
  };
  /// Thrown by what runs a request: nothing of it was run, and it may be sent again.
  struct not_begun : refusal {};

  /// Begins a session whose first request has the number 1.
  /// @throws refusal  the id is too long, or taken
  void begin(std::string_view id, clock::time_point current_time);

  /// The answer to a request: the remembered one, or that of `work`, which is called at most once per number.
  /// @throws refusal  NOSESSION: there is no such session, or it no longer remembers; BUSY: a request of the
  ///   session is running; EARLY: an earlier request has not arrived; ENDED: an earlier batch failed
  /// @throws not_begun  as `work`
  [[nodiscard]] std::string run(std::string_view id, std::uint64_t number, clock::time_point current_time,
                                const std::function<answer()>& work);

 private:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  struct session {
    std::string id{};
    clock::time_point used{};
    std::size_t counted_bytes = 0;  // of its answers, as far as they are in bytes_

    std::mutex busy{};  // guards the members below
    std::uint64_t next = 1;
    bool has_ended = false;
    std::deque<std::string> answers{};  // to the requests before `next`
  };
  using by_use = std::list<std::shared_ptr<session>>;

  [[nodiscard]] std::shared_ptr<session> find(std::string_view id, clock::time_point current_time);
  void count(const std::shared_ptr<session>& s, std::size_t bytes);
  void remove_old(clock::time_point current_time);
  void remove_first();

  std::mutex lock_{};  // guards the members below
  by_use sessions_{};  // the longest unused first
  std::map<std::string_view, by_use::iterator> places_{};
  std::size_t bytes_ = 0;
};

}  // namespace everseen::serve
