#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "everseen/redis/catalogue.hpp"
#include "everseen/redis/partition_task.hpp"
#include "everseen/redis/replica_wait.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

/// The generations of a filter as one client knows them, and the way of a batch among them.
///
/// Mostly there is one. While a filter is rebuilt there are two, and the state of each partition of the old
/// one says which of three things holds for its keys:
///
///     nothing      judged here
///     next = G     added to generation G first, then judged here: G loses nothing, the verdict stays one
///     step closed       judged in the generation that the header says
///
/// A batch that was added to G and finds the partition closed is judged by what it was called there, unless
/// the closed partition has the key: whoever was told `fresh` by that one had put the key into G before, so
/// that all others find it there. So of many that add a key exactly one gets `fresh`, also while a partition
/// closes.
///
/// Threads: any number.
class generations {
 public:
  generations(std::shared_ptr<session_pool> pool, const remote_filter& opened, gear_kind gear);
  ~generations();
  generations(const generations&) = delete;
  generations& operator=(const generations&) = delete;

  /// Writes verdicts; keys that get none are `unknown`.    @return why some got none
  std::optional<batch_failure> judge(session& with, std::span<const partition_batch> batches,
                                     partition_task::purpose what);

  /// How long servers remember answers from now on.    @pre no call is under way
  void keep_answers(std::chrono::milliseconds time);

 private:
  struct generation;
  struct part;
  using failure = std::optional<batch_failure>;
  using purpose = partition_task::purpose;

  failure judge_in(session& with, generation& in, std::vector<part> parts, purpose what);
  failure judge_regrouped(session& with, generation& in, std::span<const partition_batch> batches,
                          purpose what);
  failure add_to_next(session& with, generation& in, std::vector<part>& parts);
  failure follow(session& with, generation& in, std::vector<part> parts, purpose what);
  failure look_up_closed(session& with, generation& in, std::vector<part>& parts);
  failure why_gone(session& with, const batch_failure& damage) const;

  [[nodiscard]] generation* destination(session& with, generation& in);
  [[nodiscard]] generation& next_of(session& with, std::uint64_t number);
  [[nodiscard]] generation& known_as(const remote_filter& names, std::uint64_t parent);
  [[nodiscard]] std::vector<partition_task> tasks_for(const session& with, generation& in,
                                                      std::span<const part> parts, purpose what,
                                                      bool even_if_closed);
  void learn(generation& in, std::span<const part> parts, std::span<const partition_task> tasks);

  std::shared_ptr<session_pool> pool_;
  catalogue catalogue_;
  const std::string name_;
  const std::uint32_t partitions_;  // of the batches that we are given
  replica_wait replicas_;
  const gear_kind gear_;
  std::mutex lock_;  // guards what follows
  std::map<std::uint64_t, std::unique_ptr<generation>> all_;
  generation* home_ = nullptr;  // where batches begin
};

}  // namespace everseen::redis
