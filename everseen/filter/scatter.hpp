#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/partition/partition.hpp"

namespace everseen {

/// Sorts the digests of a batch by partition and returns the verdicts to the order of the keys.
///
/// A batch may come in pieces: begin(), put() for each, finish(). So each digest is written once, to its
/// place, as soon as it is computed. Partitions have room of their own that grows: repeats of one key may
/// fill one of them. Memory is reused between batches. Cost: about 2 ns a key to sort and 1 ns to gather;
/// none with one partition. Threads: one at a time.
class scatter {
 public:
  void begin(std::uint32_t partitions);
  /// @param times  empty, or one per key; of all pieces alike
  /// @param keys   empty, or one per digest, for a filter that wants keys; of all pieces alike
  void put(std::span<const digest> digests, std::span<const event_time> times = {},
           std::span<const std::string_view> keys = {});
  /// How many keys there are since begin().
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Returns one batch per partition that occurs, keys in their order. Valid until the next begin() or
  /// sort(); gather() writes `out`.
  /// @param time_of_all  empty, or the time of all keys if put() was given none
  /// @pre out.size() == size()
  [[nodiscard]] std::span<const partition_batch> finish(std::span<verdict> out,
                                                        std::span<const event_time> time_of_all = {});

  /// The same for a batch in one piece. The data behind the spans must live as long as the result: with one
  /// partition, it is not copied.
  /// @param times  empty, one for all, or one per key
  [[nodiscard]] std::span<const partition_batch> sort(std::span<const digest> digests,
                                                      std::span<const event_time> times,
                                                      std::uint32_t partitions, std::span<verdict> out,
                                                      std::span<const std::string_view> keys = {});

  /// Copies the verdicts of the batches into `out`, in the order of the keys.
  void gather() noexcept;

 private:
  /// The keys of one partition. Arrays instead of vectors, whose resize() writes memory that is then written.
  struct lane {
    std::size_t room = 0;
    std::unique_ptr<digest[]> digests;
    std::unique_ptr<std::uint32_t[]> origin;  // the index of each key in the batch
    std::vector<event_time> times;
    std::vector<std::string_view> keys;

    void grow();
  };

  std::vector<lane> lanes_;
  std::vector<std::size_t>
      sizes_;              // of the lanes of this batch: apart, since a small batch visits all of them
  bool has_more_ = false;  // lanes have times or keys
  std::size_t size_ = 0;
  std::vector<partition_batch> batches_;
  std::span<verdict> out_;
  std::vector<verdict> verdicts_;  // of all lanes, one after the other
};

}  // namespace everseen
