#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/core/partition/prediction.hpp"
#include "everseen/redis/journal/journal_walk.hpp"
#include "everseen/redis/journal/known_journal.hpp"
#include "everseen/redis/journal/mirror_memory.hpp"
#include "everseen/redis/journal/stored_checkpoint.hpp"
#include "everseen/redis/keyspace/script_calls.hpp"
#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

/// A server came back with less than it had acknowledged. The mirror has what there is now.
class lost_history final : public backend_error {
 public:
  using backend_error::backend_error;
};

/// A partition as this process holds it: its bits, and up to where in the journal they go.
///
///     predict ──> next_record ──> (append, by whoever talks to the server) ──taken──> accept
///        ^                                   │
///        └──────── read_on <──refused────────┘
///
/// Threads: whoever uses any function but order() holds order().
class partition_mirror {
 public:
  /// `of` and `place` must outlive the mirror.
  partition_mirror(const filter_identity& of, std::uint32_t number, mirror_memory& place);

  [[nodiscard]] std::mutex& order() noexcept { return order_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] route place() const { return {of_.keys.state(number_), number_}; }

  /// Nothing is known of the partition yet, or what was known turned out to be another history.
  [[nodiscard]] bool is_empty() const noexcept { return logic_ == nullptr; }
  /// Reads checkpoint and journal.
  /// @throws format_error  they are damaged, and the message names the key    @throws backend_error
  /// @throws storage_error  no memory, or more than mirror= of the URL allows
  void load(session& with);
  /// Reads the journal on to where it ends by now.    @throws lost_history    @throws  as load
  void read_on(session& with);
  /// The same after append_call() or compare_call() was refused.    @throws  as load
  /// @param behind  replies to the other commands of a compare_call()    @param asked  when the call was made
  void read_on(session& with, const reply& refusal, std::span<const reply> behind,
               std::chrono::steady_clock::time_point asked);
  /// Forgets everything, so that it is loaded anew.
  void clear();

  /// Predicts the verdicts of keys and prepares the record that adds the fresh ones.
  /// @pre   at most max_journal_record_keys
  /// @return what predictor::predict says
  /// @throws storage_error  the keys would take more memory than mirror= of the URL allows; nothing is
  /// prepared
  prediction prepare(const partition_batch& batch, predictor::no_room then);
  /// Prepares a record that moves the window on and adds no key; none if it is there.    @throws  as prepare
  void prepare_move(window::slice_index newest);
  /// Whether there is anything to add.
  [[nodiscard]] bool has_record() const noexcept { return record_.has_value(); }
  /// The call of journal_scripts::append that adds the prepared record; without one it adds nothing, and
  /// serves a claim that has no fresh key. At most one call for each prepare().
  [[nodiscard]] script_call append_call();
  /// Whether other clients add as well, so that a record is likely to be refused unless they are asked first.
  [[nodiscard]] bool others_add() const noexcept { return others_add_; }
  /// The call of journal_scripts::append that finds out whether the journal still ends here.
  [[nodiscard]] script_call compare_call();
  static constexpr std::size_t commands_after_compare = 2;
  /// It does.
  void note_unchanged(std::chrono::steady_clock::time_point asked);
  /// The call was done.    @throws  as load, but nothing of servers
  /// @param asked  when it was made
  void accept(std::chrono::steady_clock::time_point asked);

  /// Judges by what is here and changes nothing.
  tally check(const partition_batch& batch) const;
  [[nodiscard]] const partition_state& state() const noexcept { return logic_->state(); }
  [[nodiscard]] const journal_position& position() const noexcept { return journal_.end(); }
  [[nodiscard]] const std::byte* bits(const segment_id& id) const noexcept { return place_.at(id); }

  /// The filter that succeeds, if the partition was found sealed.
  [[nodiscard]] const std::optional<image::filter_id>& successor() const noexcept { return successor_; }
  void note_successor(const std::optional<image::filter_id>& id) noexcept {
    if (id) successor_ = id;
  }

  /// Whether the journal has become so long that a checkpoint pays.
  [[nodiscard]] bool wants_checkpoint() const noexcept;
  /// One failed: the next is written when the journal has grown by as much again.
  void put_checkpoint_off() noexcept { no_checkpoint_before_ = 2 * journal_.bytes(); }
  /// Brings the segments on the server up to this mirror and cuts the journal off before it, unless somebody
  /// else does.    @throws backend_error, format_error
  void write_checkpoint(session& with);

  using clock = std::chrono::steady_clock;
  /// The server has said that the journal ends here, when it was asked then.
  void note_asked(clock::time_point when) noexcept { asked_at_ = std::max(asked_at_, when); }
  /// How long nobody has asked the server.
  [[nodiscard]] std::chrono::steady_clock::duration unasked() const noexcept {
    return std::chrono::steady_clock::now() - asked_at_;
  }

 private:
  [[nodiscard]] bool load_segments(session& with, const stored_checkpoint& stored);
  using pieces = std::vector<journal_walk::piece>;
  void follow(session& with, const journal_position& begin, const journal_position& end, pieces known);
  [[nodiscard]] bool replay(session& with, const journal_position& end, pieces known);
  void apply(const journal_record& r);
  void move_begin(const journal_position& p);
  void forget_record();
  void put_together(journal_record r, std::uint64_t new_bytes);
  [[nodiscard]] bool is_long() const noexcept { return record_length_ >= long_record_bytes; }
  [[nodiscard]] std::string staged_key() const;
  void stage();
  void put_in_place(script_call& append);
  void adopt_staged(script_call& append);
  [[nodiscard]] std::optional<stored_checkpoint> begin_checkpoint(session& with, const std::string& word);
  [[nodiscard]] bool write_segment(session& with, const std::string& word, const segment_id& id,
                                   std::uint64_t bytes, const std::string& life_ms, std::uint64_t number);
  [[nodiscard]] format_error damaged(const std::string& what) const;

  const filter_identity& of_;
  const std::uint32_t number_;
  mirror_memory& place_;
  std::mutex order_;
  std::unique_ptr<partition> logic_{};
  known_journal journal_{};  // up to where the bits hold it
  std::optional<image::filter_id> successor_{};
  std::uint64_t no_checkpoint_before_ = 0;  // bytes of the journal
  std::chrono::steady_clock::time_point asked_at_{};

  predictor predictor_{};
  std::optional<journal_record> record_{};
  std::uint64_t record_length_ = 0;  // bytes; 0: there is none
  std::string record_wire_{};        // its bytes, or, if it is long, the command that stages it
  journal_position behind_record_{};
  std::string writer_;       // random, and unlike that of any other mirror
  int attempts_ = 0;         // to append, since one succeeded
  std::uint64_t calls_ = 0;  // of append so far
  bool others_add_ = false;  // the last call was refused
};

}  // namespace everseen::redis
