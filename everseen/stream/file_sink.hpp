#pragma once

#include <cstdint>
#include <string>

#include "everseen/store/descriptor.hpp"
#include "everseen/stream/output.hpp"
#include "everseen/stream/sink.hpp"

namespace everseen {

/// Appends fresh records to a file, each with a newline.
///
/// Exact: what a crash left behind the last length that was settled is cut off by begin(), and comes again.
/// What stood in the file before the job is kept. One job at a time may write to a file; a lock says so, on
/// this machine. Its note has the length and a hash of the last 4 KiB before it: a file that has other bytes
/// there is not the one that was written, and is never cut.
class file_sink final : public sink {
 public:
  /// Makes no file: begin() does.
  /// @throws storage_error  it cannot be written to, or another job does; there is no such directory
  explicit file_sink(const std::string& path);

  /// @param note  as of commit()
  /// @throws parameter_error  the file is not there, or shorter than it was when it was settled, or another
  ///                          one    @throws storage_error  it cannot be made
  void begin(std::string_view note) override;
  void put(const judged_batch& batch) override;
  /// The bytes are on the disk when it returns.
  [[nodiscard]] std::string commit(std::span<const checkpoint> reached) override;

  /// The absolute path without links.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  descriptor file_;
  std::uint64_t length_ = 0;
  std::string tail_;  // the last bytes before length_
  std::string text_;

  void open(int more_flags);
  void read_tail();
  void go_back_to(std::string_view note);
};

/// Writes fresh records to a descriptor, each with a newline.
///
/// Nothing is lost; what was written after the last settlement comes again after a crash.
class output_sink final : public sink {
 public:
  /// @param name  for messages    The descriptor stays the caller's.
  output_sink(int descriptor, std::string name) : out_(descriptor, std::move(name)) {}

  void begin(std::string_view /*note*/) override {}
  void put(const judged_batch& batch) override;
  [[nodiscard]] std::string commit(std::span<const checkpoint> /*reached*/) override { return {}; }

 private:
  output out_;
  std::string text_;
};

}  // namespace everseen
