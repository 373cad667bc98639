#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "everseen/client/batch_parts.hpp"
#include "everseen/client/server_link.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/partition/partition.hpp"

namespace everseen::client {

/// Sends the parts of one batch, several at a time, and collects their verdicts. Stops at the first failure
/// after which no later key may be added.
class batch_sender {
 public:
  batch_sender(const server_link& link, const key_question& q, const partition_batch& batch);

  /// @return the first failure, or the one that ended the batch; keys without an answer keep their verdict
  [[nodiscard]] std::optional<batch_failure> send();

 private:
  enum class next : std::uint8_t { go_on, stop, send_again };

  void begin_session();
  void send_some(std::size_t count);
  next take(const redis::answer& answer);
  void note(batch_failure why);

  const server_link& link_;
  const key_question question_;
  const partition_batch& batch_;
  const std::vector<batch_part> parts_;
  const redis::session_pool::lease with_;
  batch_numbering* const numbering_;    // null: nothing is added
  std::size_t done_ = 0;                // parts
  bool is_refused_ = false;             // the session was unknown to the server when the last part arrived
  std::optional<std::size_t> early_{};  // the last part that arrived before an earlier one. From then on
                                        // parts are sent again without knowing that none of them was judged
  std::optional<batch_failure> failure_{};
};

}  // namespace everseen::client
