#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "everseen/core/partition/partition.hpp"
#include "everseen/store/port/ledger.hpp"

namespace everseen {

/// Sorts the digests of a batch by partition and returns the verdicts to the order of the keys.
///
/// A batch may come in pieces: begin(), put() for each, finish(). So each digest is written once, to its
/// place, as soon as it is computed. Partitions have room of their own, which grows: repeats of one key may
/// fill one of them. Memory is reused between batches. Cost: about 2 ns a key to sort and 1 ns to gather,
/// with one partition a copy at most; 1 ns a partition. Threads: one at a time.
class scatter {
 public:
  void begin(std::uint32_t partitions);
  /// Copies the digests behind those of this batch.
  void put(std::span<const digest> digests);
  /// Returns one batch per partition that occurs, keys in their order. Valid until the next begin() or
  /// sort(); the data behind the spans must live as long. gather() writes `out`.
  /// @param times  empty, one for all, or one per key
  /// @param keys   empty, or one per digest, for a filter that wants keys
  /// @pre out.size() is the number of digests since begin()
  [[nodiscard]] std::span<const partition_batch> finish(std::span<const event_time> times,
                                                        std::span<verdict> out,
                                                        std::span<const std::string_view> keys = {});

  /// The same for a batch in one piece, which is not copied and must live as long as the result, too.
  [[nodiscard]] std::span<const partition_batch> sort(std::span<const digest> digests,
                                                      std::span<const event_time> times,
                                                      std::uint32_t partitions, std::span<verdict> out,
                                                      std::span<const std::string_view> keys = {});

  /// Copies the verdicts of the batches into `out`, in the order of the keys.
  void gather() noexcept;

  /// For how many keys there is memory: at most 4 times as many as in the last batch, or 16 times as many as
  /// it has partitions, or 65,536; and twice as many as in this one.
  [[nodiscard]] std::size_t room() const noexcept { return room_; }

 private:
  /// Arrays instead of vectors, whose resize() writes memory that is then written.
  struct lane {
    std::size_t room = 0;
    std::unique_ptr<digest[]> digests;
    std::unique_ptr<std::uint32_t[]> origin;  // the index of each key in the batch
  };

  static constexpr std::size_t least_room = 8;

  void grow(lane& full, std::size_t wanted);
  [[nodiscard]] std::span<const partition_batch> in_place(std::span<const digest> digests,
                                                          std::span<const event_time> times,
                                                          std::span<verdict> out,
                                                          std::span<const std::string_view> keys);

  std::vector<lane> lanes_;           // by partition; there may be more
  std::vector<std::uint32_t> sizes_;  // of the lanes of this batch
  std::size_t room_ = 0;              // of all lanes
  std::size_t size_ = 0;

  std::vector<partition_batch> batches_;
  std::span<verdict> out_;
  // Of all lanes, one after the other:
  std::vector<verdict> verdicts_;
  std::vector<event_time> times_;
  std::vector<std::string_view> keys_;
};

/// Sorts the events of a claim by partition and returns the answers to the order of the events.
///
/// The sort is stable. Memory is reused between claims. Threads: one at a time.
class claim_scatter {
 public:
  /// The events of a claim. Each span has one entry per event; `times` may also be empty or hold one time for
  /// all.
  struct events {
    std::span<const digest> digests;
    std::span<const std::uint64_t> positions;
    std::span<const event_time> times;
    increments counts{};
  };

  /// Valid until the next call. The data that the spans refer to must live as long.
  [[nodiscard]] std::span<const claim_batch> sort(const events& all, std::uint32_t partitions);

  /// Copies the answers back into the order of the events.    @pre both spans have one entry per event
  void gather(std::span<verdict> verdicts, std::span<std::uint8_t> claimed_before) const;

 private:
  std::vector<claim_batch> batches_{};
  std::vector<std::uint32_t> next_{};  // per partition: index of its next event
  std::vector<std::uint32_t> partition_of_{};
  std::vector<std::uint32_t> origin_{};  // original index of each sorted event
  std::vector<digest> digests_{};
  std::vector<std::uint64_t> positions_{};
  std::vector<event_time> times_{};
  std::vector<std::uint32_t> counters_{};
  std::vector<verdict> verdicts_{};
  std::vector<std::uint8_t> before_{};
};

}  // namespace everseen
