#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/digest.hpp"
#include "everseen/core/window.hpp"

namespace everseen {

/// One entry of a partition's journal: keys that the partition did not hold, in the order in which they were
/// added. Its bytes: doc/format.md, "Journal".
///
/// A partition is a state machine whose input are these records. Whoever applies the same records in the same
/// order (partition::apply) holds the same bits and the same counts, grows at the same key and moves the
/// window at the same record.
struct journal_record {
  /// Keys of one slice.
  struct group {
    window::slice_index slice = window::timeless;
    std::uint64_t keys = 0;
    friend bool operator==(const group&, const group&) = default;
  };

  /// Checksum of the record before, 0 in the first: a chain, so that one that was written behind another
  /// history is told from the next of this one.
  std::uint64_t previous = 0;
  window::slice_index newest = window::timeless;  ///< the window has moved there before the keys were added
  std::vector<group> groups{};  ///< slices ascend and are not newer than `newest`; none is empty
  std::vector<digest> keys{};   ///< of all groups, one group behind the other

  friend bool operator==(const journal_record&, const journal_record&) = default;
};

/// Bytes of a record beside its groups and keys.
inline constexpr std::size_t journal_record_head_bytes = 32;
inline constexpr std::size_t journal_record_tail_bytes = 8;
/// A longer record is damage. A batch with more keys is written as several.
inline constexpr std::size_t max_journal_record_bytes = std::size_t{4} << 20;
/// Keys that fit a record whatever their slices.
inline constexpr std::size_t max_journal_record_keys = std::size_t{1} << 16;

/// How long the record is as bytes.
[[nodiscard]] std::size_t record_bytes(const journal_record& r) noexcept;

/// @pre  r is what the comments of its members say, with at most max_journal_record_keys
/// @return its checksum, which the next record names as `previous`
std::uint64_t append_record(std::string& to, const journal_record& r);

/// Reads records that lie one behind the other. Trusts nothing: what is not a record is a format_error.
class journal_reader {
 public:
  /// @param bytes  of a journal, from the beginning of a record; must outlive the reader
  explicit journal_reader(std::string_view bytes) noexcept : rest_(bytes) {}

  /// The next record; nothing where the bytes end, perhaps within a record.
  /// @throws format_error  the bytes are damaged
  [[nodiscard]] std::optional<journal_record> next();
  /// The checksum of the record that next() gave last.
  [[nodiscard]] std::uint64_t last_checksum() const noexcept { return last_checksum_; }
  /// Bytes that follow it.
  [[nodiscard]] std::size_t rest() const noexcept { return rest_.size(); }

 private:
  std::string_view rest_;
  std::uint64_t last_checksum_ = 0;
};

}  // namespace everseen
