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

/// Batches that are judged once, however often a client sends them.
///
/// A client whose connection ended does not know whether its batch was judged. If it sent the batch again as
/// a new one, keys that the first attempt added would be `seen`. So it numbers its batches within a session,
/// which outlives connections, and a batch that arrives again gets its first answer. The batches of a session
/// are judged in the order of their numbers, on whatever connection they arrive. A batch that fails ends its
/// session: a later one may have been sent already, and must not add a repeat of a key before its first
/// occurrence. A batch that could not begin has not failed: its number is still free.
///
/// Sessions are in memory. They end with the server, when no batch has arrived for a day, and, the longest
/// unused one first, before all of them take more than 64 MiB. Batches of an ended session are refused, never
/// judged, so the client knows that the outcome is unknown. Threads: any number.
class batch_sessions {
 public:
  using clock = std::chrono::steady_clock;

  /// The answer to a batch, as bytes of the protocol.
  struct answer {
    std::string reply;
    bool ends_session = false;
  };
  /// Thrown by what judges a batch: nothing of it was run, and it may be sent again.
  struct not_begun : refusal {};

  /// Begins a session whose first batch has the number 1.
  /// @throws refusal  the id is too long, or taken
  void begin(std::string_view id, clock::time_point current_time);

  /// The answer to a batch: the remembered one, or that of `judge`, which is called at most once per number.
  /// @throws refusal  NOSESSION: there is no such session, or it no longer remembers; BUSY: a batch of the
  ///   session is being judged; EARLY: an earlier batch has not arrived; ENDED: an earlier batch failed
  /// @throws not_begun  as `judge`
  [[nodiscard]] std::string run(std::string_view id, std::uint64_t number, clock::time_point current_time,
                                const std::function<answer()>& judge);

 private:
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;

  struct session {
    std::string id{};
    clock::time_point used{};
    std::size_t counted_bytes = 0;  // of its answers, as far as they are in bytes_

    std::mutex busy{};  // guards the members below
    std::uint64_t next = 1;
    bool has_ended = false;
    std::deque<std::string> answers{};  // to the batches before `next`
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
