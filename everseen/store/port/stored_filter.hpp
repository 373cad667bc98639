#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "everseen/core/format/file_records.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen {

/// The mode in which a filter is opened. Files allow one writer at a time and any number of readers.
enum class access : std::uint8_t { read, write };

/// How the batches of an open filter reach its bits.
struct batch_path {
  std::string text{};                 ///< for example "redis, module"; empty: the bits are on this machine
  std::vector<std::string> places{};  ///< by partition: the server that has it; empty: this machine
  std::optional<predecessor> asks_first{};  ///< the older filter that is asked before this one now
};

/// What a filter tells that another program keeps: its parameters, and the bits of one key.
struct foreign_bits {
  struct property {
    std::string name;
    std::variant<std::string, std::uint64_t> value;
  };
  /// In one string that may hold the key.
  struct key_bits {
    std::string string;
    std::vector<std::uint64_t> positions;
    std::vector<bool> set;
    /// Whether all of them are set.
    [[nodiscard]] bool hold() const { return std::ranges::find(set, false) == set.end(); }
  };
  std::vector<property> properties{};
  std::vector<key_bits> strings{};
};

/// Gives a filter the room for each further segment on this machine, or refuses it. Threads: any number.
class segment_room {
 public:
  virtual ~segment_room() = default;
  /// @throws full_error  there is no room: nothing may be allocated
  virtual void take(std::uint64_t bytes) = 0;
  /// For what was taken, and could not be allocated.
  virtual void give_back(std::uint64_t bytes) noexcept = 0;
};

/// One open filter of a store: digests in, verdicts out, in batches.
///
/// Implementations use memory, files and servers; callers need not know which. The partition is the unit of
/// atomicity: the keys of one partition_batch are judged and added as one isolated step. Threads: any number
/// may call any function. If several add the same key, exactly one gets `fresh`.
///
/// Operations on a filter as a whole are functions of its store, by name: filter_admin.hpp.
class stored_filter {
 public:
  virtual ~stored_filter() = default;

  [[nodiscard]] virtual const spec& get_spec() const noexcept = 0;

  /// Whether batches must contain the keys themselves, because this filter hashes them differently from its
  /// spec. Never changes.
  [[nodiscard]] virtual bool wants_keys() const noexcept { return false; }
  /// In bytes. Longer keys are `unknown`; see filter::refusal_of.
  [[nodiscard]] virtual std::size_t longest_key() const noexcept { return SIZE_MAX; }

  /// The number of partitions into which callers divide a batch. It is 1, whatever the spec says, if only
  /// this filter knows the partitions of its keys: the whole batch is then one partition_batch, of partition
  /// 0.
  [[nodiscard]] virtual std::uint32_t batch_partitions() const noexcept { return get_spec().partitions; }

  /// Judges and adds. The batches are sent together; each is for a different partition.
  /// @return the sum over all batches, or the first failure; see batch_failure for its meaning per key
  virtual batch_result add(std::span<const partition_batch> batches) = 0;

  /// Whether add_after() works. Never changes.
  [[nodiscard]] virtual bool adds_after_effects() const noexcept { return false; }

  /// Whether a rebuild can take its place: filter_admin::begin_rebuild(). Never changes.
  [[nodiscard]] virtual bool is_rebuildable() const noexcept { return true; }

  /// Judges, calls `effect`, and then adds the keys, so that a crash between the two repeats the effect and
  /// loses nothing. Needs a filter whose only writer is this process.
  ///
  /// Of two keys that a batch confuses with each other, both may be fresh: fewer are seen by mistake than by
  /// add(), never more.
  /// @param effect  called once the verdicts are in their places, unless all of them are `unknown`. Returns
  ///   whether the keys shall be added. No other batch is judged meanwhile, so it must not use the filter.
  /// @return as add(). If adding failed, the keys have their verdicts nevertheless, and some may be fresh
  /// again.
  /// @throws parameter_error  not adds_after_effects(); what `effect` throws: nothing was added
  virtual batch_result add_after(std::span<const partition_batch> batches,
                                 const std::function<bool()>& effect);

  /// Judges and changes nothing.
  virtual batch_result check(std::span<const partition_batch> batches) const = 0;

  /// A consistent copy of the state of one partition.    @throws storage_error, backend_error, format_error
  [[nodiscard]] virtual partition_state state(std::uint32_t partition) const = 0;
  /// Whether the keys of a state are an estimate from set bits, and so include those that were called seen by
  /// mistake; otherwise those that were fresh were counted. Never changes.
  [[nodiscard]] virtual bool estimates_keys() const noexcept { return false; }

  /// The bits of a key in a filter that another program keeps; nothing for one of everseen's own, whose bits
  /// visit_segments() shows.    @throws parameter_error  the filter cannot read the key
  [[nodiscard]] virtual std::optional<foreign_bits> foreign_bits_of(std::string_view /*key*/) const {
    return {};
  }

  /// A consistent copy of one partition including its bits: calls `visit` once per segment, while no keys are
  /// added to the partition.
  ///
  /// If another process writes to the filter, the copy cannot be isolated. It then has every key acknowledged
  /// before the visit began and possibly later ones; counts may lag behind the bits. restore::commit()
  /// corrects them.
  using segment_visitor =
      std::function<void(const segment_id&, const layer_state&, std::span<const std::byte>)>;
  virtual void visit_segments(std::uint32_t partition, const segment_visitor& visit) const = 0;

  /// Siblings, of which one partition at a time is in memory: calls `take` once, with all segments of the
  /// partition, of one sibling or several, ascending by id.
  using segments_taker = std::function<void(std::span<const sibling_segment>)>;
  using sibling_source = std::function<void(std::uint32_t partition, const segments_taker& take)>;
  /// Whether the error rate would be kept with all keys of siblings. Changes nothing.
  /// @throws full_error, parameter_error  as partition::must_fit    @throws parameter_error  as merge
  /// @throws storage_error, backend_error, format_error  as visit_segments
  virtual void must_fit(const sibling_source& siblings) const;
  /// Adds all keys of siblings, partition by partition. Of each, it is decided in one isolated step whether
  /// the error rate is kept, and room is taken for all keys; merging again changes nothing.
  /// @throws parameter_error  the store cannot do this, or the filter was opened for reading
  /// @throws filter_expired    @throws full_error, parameter_error  as partition::must_fit: partitions
  ///   before have the keys
  /// @throws storage_error, backend_error, format_error  some keys may have been added
  virtual void merge(const sibling_source& siblings);

  /// Returns once everything acknowledged so far survives a power loss. Does nothing on Redis, whose
  /// configuration decides.
  /// @throws storage_error  the disk failed; acknowledged keys may be lost at a power loss
  virtual void sync() = 0;

  /// Opens the ledger of a job.
  ///
  /// A filter with a ledger cannot be rebuilt, reset or linked to an older filter, since answers given to a
  /// job must stay true. The filter must outlive the returned object.
  /// @param job          follows the rules for filter names
  /// @param description  of the job, created with it if it does not exist; nothing: opens an existing job
  /// @return null if there is no such job and no description was given
  /// @throws parameter_error  the store has no ledgers, the filter belongs to another program, or the name is
  ///   invalid; there is no such job, and the filter was opened for reading
  /// @throws storage_error, backend_error, format_error
  [[nodiscard]] virtual std::unique_ptr<ledger> open_ledger(std::string_view job,
                                                            std::optional<std::string_view> description);

  /// From now on `room` is asked before a segment is made; null: nobody is asked. A refusal is a full_error
  /// of the keys that need the segment. Servers limit their own memory, so filters there ask nobody.
  /// @param room  outlives the filter or its next call of this    @pre no keys are being added
  virtual void ask_for_room(segment_room* /*room*/) {}

  /// How batches reach the bits now. May wait for the store.    @throws backend_error
  [[nodiscard]] virtual batch_path path() const { return {}; }

 protected:
  /// must_fit() by a copy of the bits, for filters that are kept elsewhere.
  void must_fit_in_copy(const sibling_source& siblings) const;
};

}  // namespace everseen
