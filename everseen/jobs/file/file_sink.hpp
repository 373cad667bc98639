#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "everseen/dedup/output.hpp"
#include "everseen/jobs/file/unsettled_file.hpp"
#include "everseen/jobs/port/sink.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen {

/// Appends fresh records to a file, each with a newline.
///
/// Exact for any number of workers, each with its own file: a file has only settled records, and a record
/// that several workers have put is settled by one of them. Until then, records are in an unsettled_file:
///
///     put ──> .NAME.unsettled ──commit──> on the disk ──> ledger: length, hash ──settled──> appended to NAME
///
/// After a crash before the ledger has the new length, the records are replayed, by this worker or another;
/// begin() discards them. After a crash after that point, begin() appends what is missing. So readers of
/// the files need not know which workers are alive: no record is in two files, and none is taken back.
///
/// The hidden file names its owner. Lines of another job in the hidden file may be settled without being in
/// the main file: they are kept, and the file is refused until that job has appended them.
///
/// Content from before the job, or appended by others between two runs, is kept. One job at a time may write
/// to a file; a lock enforces it on this machine. The note has the length and a hash of the 4 KiB before it:
/// a file with other bytes there is a different file, and is left unchanged.
class file_sink final : public sink {
 public:
  /// Identifies the ledger and the worker that this sink belongs to; unique for all time.
  using mark = std::function<std::string()>;

  /// Creates no file: begin() does.
  /// @param owner  asked when a record is put, and by begin()    @param on  outlives the sink
  /// @throws parameter_error  it is not a regular file
  /// @throws storage_error  the file is not writable, another job writes to it, or its directory does not
  ///         exist
  file_sink(const std::string& path, mark owner, disk& on = disk::real());
  ~file_sink() override;
  file_sink(const file_sink&) = delete;
  file_sink& operator=(const file_sink&) = delete;

  /// Has begin() give this first line to a file that is empty and that the job has not written to so far.
  void begin_new_with(std::string line) { first_ = std::move(line); }

  /// Sets the byte after each record and after that line; a newline by default.
  void separate_by(char separator) noexcept { separator_ = separator; }

  /// @param note  as returned by commit()
  /// @throws parameter_error  the file is missing, shorter than when it was settled, or a different file; or
  ///         it lacks lines of another job that may be settled
  /// @throws storage_error    the file or the hidden one beside it cannot be created
  void begin(std::string_view note) override;
  void put(const judged_batch& batch) override;
  /// The bytes are on the disk when it returns.
  [[nodiscard]] std::string commit(std::span<const checkpoint> reached) override;
  void settled() override;
  void leave_settled(std::string_view note,
                     const std::map<std::string, checkpoint, std::less<>>& reached) override;

  /// The absolute path without symbolic links.
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
  void write_first();
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
  std::optional<std::string> first_;
  char separator_ = '\n';
  disk& disk_;
  descriptor file_;
  std::uint64_t shown_ = 0;  // length of the file
  std::string text_;
  std::vector<piece> put_;  // not settled
  unsettled_file unsettled_;
};

/// Writes fresh records to a descriptor, each followed by a separator.
///
/// At least once: after a crash, records that were written after the last settlement are repeated.
class output_sink final : public sink {
 public:
  /// @param name  for messages    @param first  written first, with a separator
  /// @param quoted  records are those of CSV
  /// The caller owns the descriptor.
  output_sink(int descriptor, std::string name, std::optional<std::string> first, char separator, bool quoted)
      : out_(descriptor, std::move(name)), first_(std::move(first)), separator_(separator), quoted_(quoted) {}

  void begin(std::string_view note) override;
  void put(const judged_batch& batch) override;
  [[nodiscard]] std::string commit(std::span<const checkpoint> /*reached*/) override { return {}; }

 private:
  output out_;
  std::optional<std::string> first_;  // to be written
  std::string text_;
  char separator_;
  bool quoted_;
};

}  // namespace everseen
