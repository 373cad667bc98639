#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "everseen/redis/journal/partition_mirror.hpp"
#include "everseen/redis/keyspace/filter_header.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/redis/wire/redis_url.hpp"

namespace everseen::redis {

/// Work on one partition, as a series of server calls. The mirror is locked for the lifetime of this object.
class mirror_task {
 public:
  explicit mirror_task(partition_mirror& mirror) noexcept : mirror_(mirror) {}
  virtual ~mirror_task() = default;
  mirror_task(const mirror_task&) = delete;
  mirror_task& operator=(const mirror_task&) = delete;

  /// Continues until the server is needed.    @return the call; nothing: the task is done
  std::optional<script_call> next(server_connections& connections);
  /// @param asked  when the call was made
  void take(server_connections& connections, const answer& a, std::chrono::steady_clock::time_point asked);
  /// Called instead of take() if there will be no answer.
  void stop(batch_failure why);
  /// Whether another client has the append lease.
  [[nodiscard]] bool waits() const noexcept { return waits_; }
  /// Why the task is incomplete.
  [[nodiscard]] std::optional<batch_failure>& failure() noexcept { return failure_; }

 protected:
  /// Like next(), with a mirror that is up to date as far as is known. May throw everseen::error.
  virtual std::optional<script_call> go_on(server_connections& connections) = 0;
  /// The call succeeded.
  virtual void done() = 0;
  /// Handles answers that are not common to all calls.    @throws format_error  by default: there are none
  virtual void take_other(server_connections& connections, const reply& r);
  /// The call may have run, but its answer was lost, or it was too long for the link.
  /// @return whether go_on() finds out what became of it; by default it does not
  virtual bool looks_again() noexcept { return false; }
  /// Sets the verdicts of unanswered keys to `unknown`.
  virtual void give_up() noexcept = 0;

  [[nodiscard]] partition_mirror& mirror() const noexcept { return mirror_; }
  void fail(batch_failure why) { failure_ = std::move(why); }
  /// Whether this task may have run a call whose answer it did not get.    @pre go_on() was called
  [[nodiscard]] bool has_lost_answers(const server_connections& connections) const noexcept {
    return connections.lost_answers() != lost_before_;
  }
  /// The most keys of its next record. Over a link that was cut meanwhile, a long record takes many
  /// connections, and other clients would add theirs first, again and again.
  [[nodiscard]] std::size_t most_keys(const server_connections& connections) const noexcept;

 private:
  template <typename Step>
  void guarded(Step step);
  [[nodiscard]] bool must_look() const noexcept;
  void write_checkpoint(server_connections& connections);

  partition_mirror& mirror_;
  std::optional<batch_failure> failure_{};
  bool is_looking_ = false;  // the call under way compares, and adds nothing
  bool is_current_ = false;  // the server was asked since the last record
  bool waits_ = false;
  int lacks_ = 0;  // how often the server had lost what it was sent for a call
  std::optional<std::uint64_t>
      lost_before_{};  // answers of the connections, before the first call of go_on()
};

/// The mirrors of a filter's partitions. Threads: any number.
class mirror_set {
 public:
  mirror_set(const filter_identity& f, const redis_url& url);

  [[nodiscard]] const filter_identity& filter() const noexcept { return filter_; }
  [[nodiscard]] partition_mirror& operator[](std::uint32_t partition) { return *mirrors_.at(partition); }

  /// @throws  as filter_life::require
  void require_life(server_connections& connections) { life_.require(connections); }

  using task_maker = std::function<std::unique_ptr<mirror_task>(std::size_t, partition_mirror&)>;
  /// Runs a task in each of these different partitions. Partitions that no other thread uses come first, all
  /// in one request; then this waits for the others one by one.
  /// @param make  the task for the i-th partition
  /// @return the first failure; a failure that ends a batch takes precedence over a full filter. If the
  ///   filter has expired, no task is made
  std::optional<batch_failure> run(server_connections& connections, std::span<const std::uint32_t> partitions,
                                   const task_maker& make);

  /// A client that only adds keys it has already seen asks for other clients' keys at least this often.
  static constexpr std::chrono::seconds unasked_at_most{1};

  /// The successor of this filter, once a sealed partition was met.
  [[nodiscard]] std::optional<image::filter_id> successor() const;
  /// @pre the caller has locked the mirror
  void note_successor(const partition_mirror& mirror);
  /// Frees the memory of all mirrors. They are loaded again when needed.
  void clear();

  /// Reads a locked mirror up to the end of its journal.    @throws  as partition_mirror::load
  static void bring_up_to_date(server_connections& connections, partition_mirror& mirror);
  /// The same for a loaded mirror, given the server's answer.
  /// @param fields  end and successor    @param asked  when the server was asked
  static void take_end(server_connections& connections, partition_mirror& mirror, const reply& fields,
                       std::chrono::steady_clock::time_point asked);

 private:
  bool exchange(server_connections& connections, std::span<mirror_task* const> tasks);

  const filter_identity filter_;
  filter_life life_{filter_};
  mirror_memory memory_;
  std::vector<std::unique_ptr<partition_mirror>> mirrors_;
  mutable std::mutex succession_;
  std::optional<image::filter_id> successor_{};
};

}  // namespace everseen::redis
