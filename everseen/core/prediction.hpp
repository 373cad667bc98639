#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "everseen/core/partition.hpp"
#include "everseen/core/window.hpp"

namespace everseen {

/// What a partition would call keys, found out without adding them.
struct prediction {
  /// Keys from the first on that have their verdict, or are known to find no room; the others are `unknown`.
  std::size_t judged = 0;
  /// Some key found no room. It is `unknown`.
  std::optional<batch_failure> full{};
  /// The newest slice once these keys are added; nothing: no key moves the window, or there is none.
  std::optional<window::slice_index> moves_to{};
  /// Of the segments that these keys need and that are not there yet.
  std::uint64_t new_bytes = 0;
};

/// Predicts verdicts. What is kept between calls is memory only: one for each thread saves allocations.
///
/// A claim must put its verdicts down before any bit is set, and a client of a journal learns only from the
/// answer to its record whether its keys were the next ones: both judge first and add later.
///
/// Verdicts are those of partition::add, but for what the bits of keys of this very batch would cover: there
/// this errs less. A key of the batch that occurs again is found by its digest.
///
/// Cost: partition::check, and some 5 ns for each key that is fresh. Threads: one at a time, while nobody
/// changes the partition.
class predictor {
 public:
  enum class no_room : std::uint8_t {
    ends,  ///< what follows a key without room is not judged
    skips  ///< it is, as partition::add does
  };

  /// @param batch  verdicts go to batch.out
  /// @param longest_layer  in bytes: where a slice would need a longer one there is no room
  /// @return how far it came: up to the first key without room, or to a key that moves the window beyond
  /// slices with keys that the next ones would be taken for. Predict the rest once these were added.
  [[nodiscard]] prediction predict(const partition& in, const spec& s, const partition_batch& batch,
                                   no_room then,
                                   std::uint64_t longest_layer = std::numeric_limits<std::uint64_t>::max());

 private:
  class judge;
  std::vector<std::uint32_t> places_{};  // open addressing: one more than a key's place in the batch, or 0
};

}  // namespace everseen
