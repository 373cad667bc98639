#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <tl/expected.hpp>

#include "everseen/core/base/verdict.hpp"

namespace everseen {

/// Base class of all exceptions of everseen. what() is one line: the problem and what to do.
///
/// Thrown by open, create and configure, and by single-key calls. Batches return a `batch_failure` instead,
/// since part of a batch may already have verdicts.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A number or name from the caller is invalid.
class parameter_error : public error {
 public:
  using error::error;
};

/// A filter of this name already exists, perhaps created concurrently by another process.
class name_taken : public parameter_error {
 public:
  using parameter_error::parameter_error;
};

/// No filter has this name.
class no_filter : public parameter_error {
 public:
  using parameter_error::parameter_error;
};

/// The filter has expired, as configured; its name is free.
class filter_expired : public no_filter {
 public:
  using no_filter::no_filter;
};

/// Stored or received bytes are damaged, foreign, or of another version.
class format_error : public error {
 public:
  using error::error;
};

/// The filter has reached its capacity and was created without growth, or nothing more may be allocated for
/// it.
class full_error : public error {
 public:
  /// @param code  ENOMEM: a limit of memory keeps the filter from growing; 0: the filter itself
  explicit full_error(const std::string& message, int code = 0) : error(message), code_(code) {}
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// A file or directory could not be used, or memory ran out.
class storage_error : public error {
 public:
  /// @param code  errno at the time, 0 if none applies    @param path  the file or directory concerned
  storage_error(const std::string& message, int code, std::string path)
      : error(message), code_(code), path_(std::move(path)) {}
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  int code_;
  std::string path_;
};

/// Another process or server did not answer, or refused. Retrying is safe.
class backend_error : public error {
 public:
  using error::error;
};

/// Why a batch was not answered completely.
///
/// Every verdict is valid. Keys whose verdict is `unknown` have no answer: retry just these once the cause is
/// resolved. filter::refusal_of identifies the keys that the filter can never take.
struct batch_failure {
  enum class cause : std::uint8_t {
    full,     ///< as full_error
    storage,  ///< as storage_error
    backend,  ///< as backend_error
    format,   ///< as format_error
    key,      ///< as parameter_error: the filter can never take the key; a retry cannot help
  };

  cause why = cause::storage;
  std::string message;
  tally done;             ///< includes the unknown keys
  int code = 0;           ///< as in storage_error and full_error
  std::string path = {};  ///< as in storage_error

  /// Whether no key after the failing one was judged. A full filter still answers for the keys that it holds,
  /// and a key that cannot be taken does not affect the others. After any other failure, continuing could add
  /// a later occurrence of a key whose first occurrence is `unknown`; a retry of the first would then be
  /// `seen`.
  [[nodiscard]] bool ends_batch() const noexcept { return why != cause::full && why != cause::key; }

  /// Converts the exception being handled to a failure. Rethrows anything that is not an expected failure of
  /// a batch.
  static batch_failure from_current_exception();

  /// Throws the exception that matches the cause.
  [[noreturn]] void raise() const;
};

/// The result of a batch, besides its verdicts.
using batch_result = tl::expected<tally, batch_failure>;

// Whether the store gave no answer. One that says that a filter is missing, expired, dropped or damaged has
// answered.

/// A storage_error without errno is about a filter that is gone or is being replaced.
[[nodiscard]] inline bool is_outage(const error& why) noexcept {
  if (const auto* disk = dynamic_cast<const storage_error*>(&why)) return disk->code() != 0;
  return dynamic_cast<const backend_error*>(&why) != nullptr;
}

[[nodiscard]] inline bool is_outage(const batch_failure& failure) noexcept {
  return failure.why == batch_failure::cause::backend ||
         (failure.why == batch_failure::cause::storage && failure.code != 0);
}

}  // namespace everseen
