#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/base/key_batch.hpp"
#include "everseen/serve/registry/shared_filter.hpp"
#include "everseen/serve/service/service.hpp"
#include "everseen/wire/reply_writer.hpp"

namespace everseen::serve {

/// The batches that a session gathers from its requests, and the place of each verdict in the replies.
///
/// One batch for each filter and question. Batches of different filters commute, so requests may alternate
/// between filters. Adding to a filter and asking it do not commute, so this holds only one of the two
/// for a filter.
/// Keeps some memory between reads. Threads: one; none while it is judged elsewhere.
class gathered_batches {
 public:
  [[nodiscard]] bool is_empty() const noexcept { return slots_.empty(); }
  [[nodiscard]] std::size_t keys() const noexcept { return keys_; }

  /// @return false  a batch of the other question is open for this filter; flush first
  bool put(const std::shared_ptr<shared_filter>& f, const batched_keys& request);

  /// Judges all batches on this thread.
  void judge();
  /// Submits all batches; `done` is called once, on another thread, when all are judged.
  void send(const std::function<void()>& done);

  /// Writes the replies of all requests in order, and forgets the batches.
  void write_replies(service& all, wire::reply_writer& reply);

  /// Bytes that it keeps; few once the replies are written.
  [[nodiscard]] std::size_t memory() const noexcept;

 private:
  struct group {
    std::shared_ptr<shared_filter> filter{};
    question asks = question::check;
    key_batch batch{};
  };
  struct slot {
    std::uint32_t group;
    std::uint32_t first;
    std::uint32_t count;
    reply_shape shape;
  };
  [[nodiscard]] group* group_of(const shared_filter& f, question asks, bool& conflicts) noexcept;
  [[nodiscard]] static std::optional<event_time> time_of(const group& g);

  std::vector<group> groups_{};
  std::size_t open_groups_ = 0;  // the others are kept for their memory
  std::size_t last_group_ = 0;
  std::vector<slot> slots_{};
  std::size_t keys_ = 0;
  std::atomic<std::size_t> in_flight_ = 0;
};

/// Writes the verdicts of one request.
/// @param judge  the filter that gave them    @pre the batch still has its keys
void write_verdicts(const filter& judge, const key_batch& batch, std::size_t first, std::size_t count,
                    question asks, reply_shape shape, wire::reply_writer& reply);

}  // namespace everseen::serve
