#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "everseen/store/descriptor.hpp"
#include "everseen/store/disk.hpp"
#include "everseen/stream/sink.hpp"
#include "everseen/stream/unsettled_file.hpp"

namespace everseen {

/// Appends fresh records to a file, each with a newline.
///
/// Exact, for any number of workers with a file each: a file has settled records alone, and of several
/// workers that have put one record, one settles it. Until then records are in an unsettled_file:
///
///     put ──> .NAME.unsettled ──commit──> on the disk ──> ledger: length, hash ──settled──> appended to NAME
///
/// A crash before the ledger has the new length leaves records that come again, here or at another worker;
/// begin() forgets them. After a crash behind it begin() appends what is missing. So nobody who reads the
/// files needs to know which workers live: no record is in two of them, and none is taken back.
///
/// The hidden file says whose it is. What another job has left there and is not in the file may be settled:
/// it is kept, and the file refused, until that job has appended it.
///
/// What stood in the file before the job, or was appended by others between two runs, is kept. One job at a
/// time may write to a file; a lock says so, on this machine. Its note has the length and a hash of the last
/// 4 KiB before it: a file that has other bytes there is not the one that was written, and is left as it is.
class file_sink final : public sink {
 public:
  /// Which ledger and which of its workers this goes with: no other, before or after, has the same.
  using mark = std::function<std::string()>;

  /// Makes no file: begin() does.
  /// @param of  asked when something is put, or was    @param on  outlives it
  /// @throws storage_error  it cannot be written to, or another job does; there is no such directory
  file_sink(const std::string& path, mark of, disk& on = disk::real());
  ~file_sink() override;
  file_sink(const file_sink&) = delete;
  file_sink& operator=(const file_sink&) = delete;

  /// @param note  as of commit()
  /// @throws parameter_error  the file is not there, or shorter than it was when it was settled, or another
  ///                          one, or lacks what may be settled of another job
  /// @throws storage_error    it cannot be made, nor the hidden one beside it
  void begin(std::string_view note) override;
  void put(const judged_batch& batch) override;
  /// The bytes are on the disk when it returns.
  [[nodiscard]] std::string commit(std::span<const checkpoint> reached) override;
  void settled() override;
  void leave_settled(std::string_view note,
                     const std::map<std::string, checkpoint, std::less<>>& reached) override;

  /// The absolute path without links.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  /// The records of a batch that were put, and where each ends in the file.
  struct piece {
    std::string lane;
    struct record {
      std::uint64_t position, end;
    };
    std::vector<record> records;
  };

  void open(int more_flags);
  void must_have_all_of_others();
  void show_settled(std::string_view note);
  void must_go_on_as_unsettled(std::uint64_t end) const;
  [[nodiscard]] std::uint64_t length_in(std::string_view note) const;
  [[nodiscard]] std::uint64_t first_difference(std::uint64_t end) const;
  [[nodiscard]] std::string read(std::uint64_t begin, std::size_t bytes) const;
  [[nodiscard]] std::string tail_before(std::uint64_t length) const;
  [[nodiscard]] std::string mark_line() const;
  void append_up_to(std::uint64_t length);
  void forget_shown();
  void write_unsettled(std::string_view text);

  std::string path_;
  mark mark_;
  disk& disk_;
  descriptor file_;
  std::uint64_t shown_ = 0;  // the length of the file
  std::string text_;
  std::vector<piece> put_;  // not settled
  unsettled_file unsettled_;
};

}  // namespace everseen
