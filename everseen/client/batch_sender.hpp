#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/client/server_link.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::client {

/// The question about the keys of a batch, and the filter that it is put to.
struct key_question {
  bool adds = false;
  std::string_view filter;
  std::string_view fingerprint;
  bool has_window = false;
};

/// Consecutive keys of a batch, sent in one command.
struct batch_part {
  std::size_t first = 0;
  std::size_t count = 0;
};

/// Divides a batch into parts. Keys that are too long for a request are in none of them.
[[nodiscard]] std::vector<batch_part> parts_of(std::span<const std::string_view> keys);
/// Whether a key is too long for a request: the server would end the connection.
[[nodiscard]] bool is_too_long(std::string_view key) noexcept;

/// The command for a part.
/// @param in  the session in which the keys are added; its batch number is incremented
[[nodiscard]] redis::request request_for(const key_question& q, const partition_batch& batch,
                                         const batch_part& part, request_numbering* in);

/// Copies the verdicts of a part from its answer into the batch.    @return why some of its keys are unknown
[[nodiscard]] std::optional<batch_failure> take_answer(const redis::reply& answer, const key_question& q,
                                                       const partition_batch& batch, const batch_part& part);

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
  void keep_failure(batch_failure why);

  const server_link& link_;
  const key_question question_;
  const partition_batch& batch_;
  const std::vector<batch_part> parts_;
  const redis::connection_pool::lease connections_;
  request_numbering* const numbering_;  // null: nothing is added
  std::size_t done_ = 0;                // parts
  bool is_refused_ = false;             // the session was unknown to the server when the last part arrived
  std::optional<std::size_t> early_{};  // the last part that arrived before an earlier one. From then on
                                        // parts are sent again without knowing that none of them was judged
  std::optional<batch_failure> failure_{};
};

}  // namespace everseen::client
