#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/dedup/record/block_reader.hpp"
#include "everseen/jobs/file/resumable_input.hpp"
#include "everseen/jobs/port/source.hpp"

namespace everseen {

/// Records of a file, or of standard input. One lane; a record's position is the offset of its first byte.
/// Where it resumes: see resumable_input.
///
/// A last record without a separator is a record, unless the file is followed: then it waits for the
/// separator. The record at this position may be longer later, so its end is written to the ledger before it
/// is claimed.
/// Threads: as for source.
class file_source final : public source {
 public:
  struct options {
    record_format format{};
    bool follow = false;  ///< wait at the end for more, as for a log
    std::size_t block_bytes = std::size_t{1} << 20;
    /// How long a followed file must stay silent, after another file has taken its name, before the source
    /// ends.
    std::chrono::milliseconds rotated_for{5'000};
    /// Called several times a second while waiting for a header; may throw, which ends the waiting.
    std::function<void()> idle = [] {};
    /// Called with the text of the first block.
    std::function<void(std::string_view)> on_first_block = [](std::string_view) {};
    /// The worker's name: other machines have other files with the same path.
    std::string worker{};

    /// Size of a block that begins with `carried` bytes of the one before it: large enough to complete their
    /// record if possible, and small enough for offsets of 32 bits.    @pre carried <= max_record_bytes
    [[nodiscard]] std::size_t room_for(std::size_t carried) const noexcept {
      return std::min(std::max(block_bytes, 2 * carried), carried + block_reader::max_read_bytes);
    }
  };

  /// If the first record names the fields, waits for it as long as it may still arrive.
  /// @param path  "-": standard input    @throws storage_error  it cannot be opened, or is a directory
  /// @throws format_error  the record that names the fields has no end
  file_source(const std::string& path, options settings);
  explicit file_source(const std::string& path) : file_source(path, options{}) {}

  /// @throws parameter_error  it is not the file that the job has read, or it is shorter
  void begin(const std::map<std::string, checkpoint, std::less<>>& reached) override;
  /// @throws parameter_error  standard input differs from the last run; or the last line had no end when it
  ///         was claimed, and has changed since
  /// @throws storage_error    reading failed; a followed file was truncated; or another file has its name,
  ///         and nothing more was appended to this one
  /// @throws format_error     the input ends between quotes
  [[nodiscard]] state next(source_batch& into, std::chrono::milliseconds wait) override;
  [[nodiscard]] checkpoint reached(const source_batch& batch) override;
  [[nodiscard]] std::optional<checkpoint> known_before(const source_batch& batch) const override;
  void must_be_of(const checkpoint& known) const override;
  void finish() override {}
  /// Estimated from the remaining bytes and the mean record length so far.
  [[nodiscard]] std::optional<std::uint64_t> lag() const override;
  /// Its line; for standard input, which cannot be read again, its offset.
  /// Cost: everything before it is read again.
  [[nodiscard]] std::string place_of(std::string_view lane, std::uint64_t position) const override;

  /// The first record, if the format says that it names the fields.
  [[nodiscard]] const std::optional<std::string>& header() const noexcept { return header_; }
  /// WORKER:PATH, or the path alone.
  [[nodiscard]] const std::string& lane() const noexcept { return lane_; }
  [[nodiscard]] std::optional<std::uint64_t> total_bytes() const noexcept { return input_.bytes(); }

 private:
  struct block {
    std::shared_ptr<char[]> bytes;
    std::size_t size = 0;
  };

  [[nodiscard]] block read_block();
  void end_the_last_one(const block& text);
  [[nodiscard]] state cut(const block& text, source_batch& into);
  void must_be_the_one_taken(const source_record& first);
  [[noreturn]] void refuse_another_last_line() const;
  [[nodiscard]] state end(source_batch& into, std::chrono::milliseconds wait);
  void must_go_on();

  resumable_input input_;
  options options_;
  std::string lane_;
  std::optional<std::string> header_;
  std::string carry_;           // the beginning of a record that was not read to its end
  std::uint64_t position_ = 0;  // of the first byte that was not handed out
  bool unended_ = false;        // the settled input ends within a line
  std::uint64_t taken_to_ = 0;  // end of a last record without a separator that an earlier attempt claimed
  bool begins_ = true;
  bool ended_ = false;
  std::optional<std::chrono::steady_clock::time_point> quiet_since_;  // silent, with its name gone
  std::vector<std::uint32_t> ends_;

  // read by another thread, for lag()
  std::atomic<std::uint64_t> handed_out_to_ = 0;
  std::atomic<std::uint64_t> records_ = 0;
  std::uint64_t began_at_ = 0;
};

/// The most bytes of a file that its fingerprint covers.
inline constexpr std::size_t max_fingerprinted = 4096;

/// The number of bytes and their hash, as in 4096:0123456789abcdef.
[[nodiscard]] std::string fingerprint(std::string_view bytes);

/// The number of bytes that a fingerprint covers.
/// @param name  of the fingerprinted input, for the message    @throws format_error  `print` is not a
///         fingerprint
[[nodiscard]] std::size_t fingerprinted_bytes(std::string_view print, std::string_view name);

}  // namespace everseen
