#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "everseen/core/partition/journal_record.hpp"
#include "everseen/core/partition/partition.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen {

/// The verdicts that a partition would give, computed without adding keys.
struct prediction {
  /// Length of the prefix that was judged, including keys without room. Later keys are `unknown`.
  std::size_t judged = 0;
  /// Set if a key found no room; that key is `unknown`.
  std::optional<batch_failure> full{};
  /// The newest slice once these keys are added; nothing: no key moves the window, or there is no window.
  std::optional<window::slice_index> moves_to{};
  /// Total size of the segments that these keys need and that do not exist yet.
  std::uint64_t new_bytes = 0;
};

/// Predicts verdicts. Keeps only memory between calls, so one predictor per thread saves allocations.
///
/// A claim must store its verdicts before any bit is set. A journal client learns only from the reply to its
/// record whether its keys were next. Both judge first and add later.
///
/// Verdicts equal those of partition::add, except where bits of keys of this same batch would cause a false
/// positive: prediction has fewer of these. A key that repeats within the batch is found by its digest.
///
/// Cost: partition::check, plus about 5 ns per fresh key. Threads: one at a time, while the partition does
/// not change.
class predictor {
 public:
  enum class no_room : std::uint8_t {
    ends,  ///< keys after one without room are not judged
    skips  ///< they are judged, as partition::add does
  };

  /// @param batch  verdicts go to batch.out
  /// @param longest_layer  in bytes: a slice that would need a longer layer has no room
  /// @return the prediction. It stops before the first key without room (with no_room::ends), or after a key
  ///   that moves the window past slices whose bits would wrongly match later keys. Add the judged keys, then
  ///   predict the rest.
  [[nodiscard]] prediction predict(const partition& in, const spec& s, const partition_batch& batch,
                                   no_room then,
                                   std::uint64_t longest_layer = std::numeric_limits<std::uint64_t>::max());

  /// The same for a whole batch, however often its keys move the window. Keys without room are skipped.
  ///
  /// For a caller that can act on a batch only once, before any key is added. The keys must then be added by
  /// record_of() and partition::apply, which drop what the window has left by the end of the batch;
  /// partition::add would compare a key with slices that the prediction had already left.
  /// Cost: as predict, and another look-up of the rest each time that the window leaves a slice with keys.
  [[nodiscard]] prediction predict_whole(const partition& in, const spec& s, const partition_batch& batch);

 private:
  class judge;
  std::vector<std::uint32_t> places_{};  // open addressing: index of a key in the batch plus one, or 0
};

/// The record that adds the keys of a batch that were predicted to be fresh; `previous` is left to the
/// caller.
/// @param before  the state of the partition that the prediction was made for
[[nodiscard]] journal_record record_of(const prediction& predicted, const partition_state& before,
                                       const spec& s, const partition_batch& batch);

}  // namespace everseen
