#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/redis/served/packed_keys.hpp"
#include "everseen/redis/transport/server_connections.hpp"

namespace everseen::redis {

/// The keys of one partition on their way through a server, in calls of at most packed_keys_a_call keys.
///
/// drive() sends next() to the server and passes the answer to take(), for many partitions in parallel, until
/// done(). Nothing here uses a socket or waits. Invariant: the verdicts written so far are final, those of
/// the other keys are `unknown`.
class partition_task {
 public:
  /// A look-up continues in a sealed partition.
  enum class purpose : std::uint8_t { add, check };

  /// Why a task stops before all keys have verdicts.
  enum class reason : std::uint8_t {
    none,
    sealed,   ///< another filter takes what is to be added: successor()
    claimed,  ///< the record of the lane has changed
    ended,    ///< the job has
  };

  /// @param claim  the keys are events of a job; null: they are not
  partition_task(packed_commands commands, purpose intent, const partition_batch& batch,
                 std::unique_ptr<lane_claim> claim = {});

  [[nodiscard]] bool done() const noexcept {
    return failure_.has_value() || detour_ != reason::none || from_ == batch_.digests.size();
  }
  [[nodiscard]] reason detour() const noexcept { return detour_; }
  /// The number of keys, from the first on, that have verdicts.
  [[nodiscard]] std::size_t answered() const noexcept { return from_; }
  /// If an answer has said that the partition is sealed.
  [[nodiscard]] const std::optional<image::filter_id>& successor() const noexcept { return successor_; }

  /// The next request.    @pre !done()
  [[nodiscard]] request next() const;
  /// Processes the answer.
  void take(const answer& a);

  /// Whether the next request may add keys.    @pre !done()
  [[nodiscard]] bool adds_next() const noexcept { return purpose_ == purpose::add; }
  /// The route of all its requests.
  [[nodiscard]] route place() const { return {filter().keys.state(batch_.partition), batch_.partition}; }

  [[nodiscard]] const std::optional<batch_failure>& failure() const noexcept { return failure_; }

 private:
  [[nodiscard]] const filter_identity& filter() const noexcept { return commands_.filter(); }
  void sort_by_slice();
  void plan();
  void take_verdicts(std::string_view verdicts);

  packed_commands commands_;
  purpose purpose_;
  partition_batch batch_;
  std::unique_ptr<lane_claim> claim_;
  key_divider divider_;

  // Of a look-up whose keys are asked for in another order.
  std::vector<std::uint32_t> places_{};  // of each key in the batch; empty: its own index
  std::vector<digest> sorted_{};
  std::vector<event_time> times_{};

  std::size_t from_ = 0;    // keys before have their verdict
  packed_keys question_{};  // the call under way
  reason detour_ = reason::none;
  std::optional<image::filter_id> successor_{};
  std::optional<batch_failure> full_{};  // some keys found no room; reported when all were asked
  std::optional<batch_failure> failure_{};
};

}  // namespace everseen::redis
