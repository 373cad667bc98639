#pragma once

#include <atomic>
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
/// A server that loads the module is noticed within a second, at the price of one look at the state of each
/// partition a second for as long as it has none; one that unloads it, at once.
///
/// Threads: any number.
class generations {
 public:
  generations(std::shared_ptr<session_pool> pool, const remote_filter& opened);
  ~generations();
  generations(const generations&) = delete;
  generations& operator=(const generations&) = delete;

  /// Writes verdicts; keys that get none are `unknown`.    @return why some got none
  std::optional<batch_failure> judge(session& with, std::span<const partition_batch> batches,
                                     partition_task::purpose what);

  /// How long servers remember answers from now on.    @pre no call is under way
  void keep_answers(std::chrono::milliseconds time);

  /// By which commands keys reach the servers, as far as is known.
  [[nodiscard]] gear_kind gear_in_use() const noexcept;

  /// For so long a client may not see that a server has loaded the module.
  static constexpr std::chrono::seconds module_unnoticed{1};

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

  [[nodiscard]] gear_kind gear_without_module() const noexcept;
  [[nodiscard]] generation* destination(session& with, generation& in);
  [[nodiscard]] generation& next_of(session& with, std::uint64_t number);
  [[nodiscard]] generation& known_as(const remote_filter& names, std::uint64_t parent);
  [[nodiscard]] std::vector<partition_task> tasks_for(const session& with, generation& in,
                                                      std::span<const part> parts, purpose what,
                                                      bool even_if_closed);
  [[nodiscard]] std::shared_ptr<const remote_partition> remembered(const generation& in,
                                                                   std::uint32_t partition) const;
  void run(session& with, std::vector<partition_task>& tasks);
  void learn(generation& in, std::span<const part> parts, std::span<const partition_task> tasks);
  [[nodiscard]] std::unique_ptr<gear> first_gear(const session& with, const remote_filter& f) const;
  [[nodiscard]] std::unique_ptr<gear> second_gear(const session& with, const remote_filter& f) const;
  [[nodiscard]] std::unique_ptr<gear> gear_in_server(const session& with, const remote_filter& f) const;

  std::shared_ptr<session_pool> pool_;
  catalogue catalogue_;
  const std::string name_;
  const std::uint32_t partitions_;  // of the batches that we are given
  replica_wait replicas_;
  std::atomic<bool> no_scripts_{false};  // the server forbids them
  std::atomic<bool> has_module_{false};  // the server asked last
  std::mutex lock_;                      // guards what follows
  std::map<std::uint64_t, std::unique_ptr<generation>> all_;
  generation* home_ = nullptr;  // where batches begin
};

}  // namespace everseen::redis
