#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <sys/types.h>

#include "everseen/store/disk/disk.hpp"

namespace everseen {

/// Input that another program decompresses meanwhile: gzip, zstd, bzip2, xz or lz4, each as `PROGRAM -dc`.
///
/// These programs handle concatenated members and frames, checksums, and future formats, and they run on
/// another core. Threads: one at a time.
class decompression {
 public:
  /// Looks at the first bytes of an input. Consumes nothing unless they are those of a compressed format.
  /// @param from     its descriptor; a regular file is read from its current position
  /// @param name     for messages
  /// @param waiting  called several times a second while a pipe has too few bytes to tell; may throw
  /// @return null: the input is not compressed
  /// @throws storage_error  the program for the format is not installed, or cannot be started
  static std::unique_ptr<decompression> of(int from, std::string name,
                                           const std::function<void()>& waiting = {});

  /// Whether a regular file is compressed, judged by the bytes at its current position.
  [[nodiscard]] static bool recognises(int file);

  ~decompression();  // ends the program
  decompression(const decompression&) = delete;
  decompression& operator=(const decompression&) = delete;

  /// To read from, until it ends.
  [[nodiscard]] int number() const noexcept { return decompressed_.get(); }

  /// Called at the end, and again after an exception.
  /// @param text_bytes  what was read from number()
  /// @throws format_error  the input is cut off or damaged, or other bytes follow the last member or frame
  void must_be_whole(std::uint64_t text_bytes);

 private:
  decompression(const char* program, int from, std::string name);

  [[nodiscard]] std::string first_message() const;

  const char* program_;
  std::string name_;
  descriptor decompressed_;
  descriptor messages_;  // what the program writes to its standard error
  std::string message_;  // the first of them, once it was waited for
  pid_t child_ = 0;      // 0: it was waited for
  bool is_whole_ = true;
};

}  // namespace everseen
