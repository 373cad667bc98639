#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/hash/digest.hpp"
#include "everseen/core/spec/window.hpp"

namespace everseen {

/// One entry of a partition's journal: keys that were new to the partition, in the order in which they were
/// added; or bits of siblings that were merged into it. Format: doc/format.md, "Journal".
///
/// A partition is a state machine whose inputs are these records. All processes that apply the same records
/// in the same order (partition::apply) have the same bits and counts, grow at the same key, and move the
/// window at the same record.
struct journal_record {
  /// Keys of one slice.
  struct group {
    window::slice_index slice = window::timeless;
    std::uint64_t keys = 0;
    friend bool operator==(const group&, const group&) = default;
  };

  /// Bits of siblings in one segment. Those of all records of a merge have all their keys, and each such
  /// record counts all of them: so what others add in between finds the room that is left.
  struct piece {
    window::slice_index slice = window::timeless;
    std::uint32_t layer = 0;
    std::uint64_t keys = 0;  ///< in the segment from this record on
    std::uint64_t offset = 0;
    std::string bits{};  ///< the bytes from there on; may be empty
    friend bool operator==(const piece&, const piece&) = default;
  };

  /// Checksum of the previous record, 0 in the first. This chain distinguishes the next record of this
  /// history from a record of another history.
  std::uint64_t previous = 0;
  window::slice_index newest = window::timeless;  ///< the window has moved here before the keys were added
  std::vector<group> groups{};  ///< slices ascend, none newer than `newest`; no group is empty
  std::vector<digest> keys{};   ///< of all groups, group by group
  /// Unless it is empty, there are no keys. Ascend by slice, layer and offset, and do not overlap; those of
  /// one segment count the same keys.
  std::vector<piece> pieces{};
  /// The filter's hash is short: a key is written as the `low` of its digest, and read lengthened().
  bool short_keys = false;

  friend bool operator==(const journal_record&, const journal_record&) = default;
};

/// Size of a record without its groups and keys.
inline constexpr std::size_t journal_record_head_bytes = 32;
inline constexpr std::size_t journal_record_tail_bytes = 8;
/// Size of a piece without its bits.
inline constexpr std::size_t journal_piece_head_bytes = 32;
/// A longer record is invalid. A batch with more keys is written as several records.
inline constexpr std::size_t max_journal_record_bytes = std::size_t{4} << 20;
/// The number of keys that always fit into one record, whatever their slices.
inline constexpr std::size_t max_journal_record_keys = std::size_t{1} << 16;

/// Size of the record in bytes.
[[nodiscard]] std::size_t record_bytes(const journal_record& r) noexcept;

/// @pre  r satisfies the comments of its members and has at most max_journal_record_keys
/// @return its checksum, which the next record stores as `previous`
std::uint64_t append_record(std::string& out, const journal_record& r);

/// Reads consecutive records. Trusts nothing: anything else is a format_error.
class journal_reader {
 public:
  /// @param bytes  part of a journal that begins with a record; must outlive the reader
  explicit journal_reader(std::string_view bytes) noexcept : rest_(bytes) {}

  /// The next record; nothing at the end of the bytes, even within a record.
  /// @throws format_error  the bytes are damaged
  [[nodiscard]] std::optional<journal_record> next();
  /// The checksum of the record that next() returned last.
  [[nodiscard]] std::uint64_t last_checksum() const noexcept { return last_checksum_; }
  /// Bytes after that record.
  [[nodiscard]] std::size_t rest() const noexcept { return rest_.size(); }

 private:
  std::string_view rest_;
  std::uint64_t last_checksum_ = 0;
};

}  // namespace everseen
