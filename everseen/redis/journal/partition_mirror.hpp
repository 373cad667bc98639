#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/core/partition/prediction.hpp"
#include "everseen/redis/journal/journal_walk.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"
#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/transport/server_connections.hpp"
#include "everseen/store/memory/memory_segments.hpp"

namespace everseen::redis {

/// The bits of a filter's mirrors, up to a limit: a process may have many filters open, and one that another
/// client lets grow must not use up the machine's memory.
class mirror_memory final : public memory_segments {
 public:
  mirror_memory(std::uint32_t partitions, std::uint64_t most_bytes)
      : memory_segments(partitions), most_bytes_(most_bytes) {}

  /// @throws storage_error  the limit is reached; says what to do
  void create(const segment_id& id, const geometry& shape, std::uint64_t capacity) override;
  void drop_before(std::uint32_t partition, window::slice_index oldest) override;

  /// @throws storage_error  these additional bytes would exceed the limit
  void require_room(std::uint64_t bytes) const;

 private:
  const std::uint64_t most_bytes_;
  std::atomic<std::uint64_t> bytes_ = 0;
};

/// A server came back with less data than it had acknowledged. The mirror now has what the server has.
class lost_history final : public backend_error {
 public:
  using backend_error::backend_error;
};

/// A partition as this process holds it: its bits, and the position in the journal that they correspond to.
///
///     prepare ──> append_call, run by the owner of the connections ──taken──> accept
///        ^                                   │
///        └──────── read_on <──refused────────┘
///
/// Threads: the caller of any function except order() holds order().
class partition_mirror {
 public:
  /// `identity` and `place` must outlive the mirror.
  /// @param waits_for_replicas  wait= of the URL asks for some
  partition_mirror(const filter_identity& identity, std::uint32_t number, mirror_memory& place,
                   bool waits_for_replicas);

  [[nodiscard]] std::mutex& order() noexcept { return order_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] route place() const { return {filter_.keys.state(number_), number_}; }

  /// Whether nothing is known of the partition yet, or what was known belongs to another history.
  [[nodiscard]] bool is_empty() const noexcept { return logic_ == nullptr; }
  /// Reads checkpoint and journal.
  /// @throws format_error  they are damaged, and the message names the key    @throws backend_error
  /// @throws storage_error  no memory, or more than mirror= of the URL allows
  void load(server_connections& connections);
  /// Reads the journal up to its current end.    @throws lost_history    @throws  as load
  void read_on(server_connections& connections);
  /// The same after append_call() or compare_call() was refused.    @throws  as load
  /// @param behind  replies to the other commands of a compare_call()    @param asked  when the call was made
  void read_on(server_connections& connections, const reply& refusal, std::span<const reply> behind,
               std::chrono::steady_clock::time_point asked);
  /// Forgets everything; the partition is loaded again when needed.
  void clear();

  /// Predicts the verdicts of keys and prepares the record that adds the fresh ones.
  /// @pre   at most max_journal_record_keys
  /// @return the result of predictor::predict
  /// @throws storage_error  the keys would take more memory than mirror= of the URL allows; nothing is
  ///   prepared
  prediction prepare(const partition_batch& batch, predictor::no_room then);
  /// Prepares a record that only moves the window; none if it is there already.    @throws  as prepare
  void prepare_move(window::slice_index newest);
  /// Prepares the next record of a merge; none if the partition has all keys of the siblings.
  /// @throws full_error, parameter_error  as partition::must_fit, at the beginning    @throws  as prepare
  /// @param begins  no record of this merge was added yet
  /// @param most  bytes of its pieces
  void prepare_merge(std::span<const sibling_segment> siblings, bool begins, std::size_t most);
  /// The number of keys whose record is short, whatever their slices.
  [[nodiscard]] std::size_t short_record_keys() const noexcept;
  /// Whether a record is prepared.
  [[nodiscard]] bool has_record() const noexcept { return record_.has_value(); }
  /// The call of journal_scripts::append with the prepared record. Without one, it adds nothing and serves a
  /// claim without fresh keys. At most one call for each prepare().
  [[nodiscard]] script_call append_call();
  /// Whether other clients add keys too, so that a record is likely to be refused unless the journal is read
  /// first.
  [[nodiscard]] bool others_add() const noexcept { return others_add_; }
  /// The call of journal_scripts::append that checks whether the journal still ends here.
  [[nodiscard]] script_call compare_call();
  static constexpr std::size_t commands_after_compare = 2;
  /// Whether it must wait for replicas that may lack keys which are here: it has read them since the last
  /// append, whose answer waited for all that precedes it.
  [[nodiscard]] bool leads_replicas() const noexcept { return leads_replicas_; }
  /// The call of journal_scripts::append that adds nothing, but is answered once replicas have what is here.
  [[nodiscard]] script_call replication_call();
  /// The check was positive.
  void note_unchanged(std::chrono::steady_clock::time_point asked);
  /// The call succeeded.    @throws  as load, except backend_error
  /// @param asked  when it was made
  void accept(std::chrono::steady_clock::time_point asked);

  /// Judges by the mirror's content and changes nothing.
  tally check(const partition_batch& batch) const;
  /// @throws  as partition::must_fit
  void must_fit(std::span<const sibling_segment> siblings) const { logic_->must_fit(siblings); }
  [[nodiscard]] const partition_state& state() const noexcept { return logic_->state(); }
  [[nodiscard]] const journal_position& position() const noexcept { return journal_.end(); }
  [[nodiscard]] const std::byte* bits(const segment_id& id) const noexcept { return place_.at(id); }

  /// The successor, if the partition was found sealed.
  [[nodiscard]] const std::optional<image::filter_id>& successor() const noexcept { return successor_; }
  void note_successor(const std::optional<image::filter_id>& id) noexcept {
    if (id) successor_ = id;
  }

  /// @throws storage_error  there is one, or the filter is being removed
  void require_unsealed() const;

  /// Whether the journal is long enough for a checkpoint to pay off.
  [[nodiscard]] bool wants_checkpoint() const noexcept;
  /// A checkpoint failed: the next one is written after the journal has grown by the same amount again.
  void put_checkpoint_off() noexcept { no_checkpoint_before_ = 2 * journal_.bytes(); }
  /// Writes the segments on the server up to this mirror and removes the journal before it, unless another
  /// client is doing so.    @throws backend_error, format_error
  void write_checkpoint(server_connections& connections);

  using clock = std::chrono::steady_clock;
  /// The server, asked at this time, confirmed that the journal ends here.
  void note_asked(clock::time_point when) noexcept { asked_at_ = std::max(asked_at_, when); }
  /// The time since the server was last asked.
  [[nodiscard]] std::chrono::steady_clock::duration unasked() const noexcept {
    return std::chrono::steady_clock::now() - asked_at_;
  }

 private:
  /// The end of a checkpoint forgets the calls of clients that have been silent for longer. An append that is
  /// sent again later would find its own record, as if another client had added the keys.
  static constexpr std::chrono::seconds calls_kept = std::chrono::hours(24);

  [[nodiscard]] stored_checkpoint checkpoint_now(server_connections& connections);
  [[nodiscard]] bool load_segments(server_connections& connections, const stored_checkpoint& stored);
  using pieces = std::vector<journal_walk::piece>;
  void follow(server_connections& connections, const journal_position& begin, const journal_position& end,
              pieces known);
  [[nodiscard]] bool replay(server_connections& connections, const journal_position& end, pieces known);
  void apply(const journal_record& r);
  void move_begin(const journal_position& p);
  void forget_record();
  void put_together(journal_record r, std::uint64_t new_bytes);
  [[nodiscard]] bool is_long() const noexcept { return record_length_ >= long_record_bytes; }
  [[nodiscard]] std::string key_of_record() const;
  void stage();
  void put_in_place(script_call& append);
  void adopt_staged(script_call& append);
  [[nodiscard]] std::optional<stored_checkpoint> begin_checkpoint(server_connections& connections,
                                                                  const std::string& word);
  [[nodiscard]] format_error damaged(const std::string& problem) const;

  const filter_identity& filter_;
  const std::uint32_t number_;
  mirror_memory& place_;
  const bool waits_for_replicas_;
  std::mutex order_;
  std::unique_ptr<partition> logic_{};
  known_journal journal_{};  // up to the position of the bits
  std::optional<image::filter_id> successor_{};
  std::uint64_t no_checkpoint_before_ = 0;  // bytes of the journal
  std::set<segment_id> merged_{};  // their bits may have changed since the checkpoint, but not their counts
  std::chrono::steady_clock::time_point asked_at_{};

  predictor predictor_{};
  std::optional<journal_record> record_{};
  std::uint64_t record_length_ = 0;  // bytes; 0: there is none
  std::string record_wire_{};        // its bytes, or, if it is long, the command that stages it
  std::size_t begin_of_staged_ = 0;  // in this command
  journal_position behind_record_{};
  std::string writer_;       // random and unique to this mirror
  int attempts_ = 0;         // to append, since one succeeded
  std::uint64_t calls_ = 0;  // of append so far
  bool others_add_ = false;  // the last call was refused
  bool leads_replicas_ = false;
};

}  // namespace everseen::redis
