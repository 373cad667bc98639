#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <tl/expected.hpp>

#include "everseen/core/verdict.hpp"

namespace everseen {

/// Base of everything that everseen throws: one line, what was wrong and what to do.
///
/// Thrown where work begins (open, create, configure) and by single-key calls. Batches return a
/// `batch_failure` instead, since part of a batch may already have its answer.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A number or name that the caller gave makes no sense.
class parameter_error : public error {
 public:
  using error::error;
};

/// A filter of this name exists already: perhaps another process was faster.
class name_taken : public parameter_error {
 public:
  using parameter_error::parameter_error;
};

/// There is no filter of this name.
class no_filter : public parameter_error {
 public:
  using parameter_error::parameter_error;
};

/// There was one, and it has ended as it was made to: its name is free.
class filter_ended : public no_filter {
 public:
  using no_filter::no_filter;
};

/// Stored or received bytes are damaged, foreign, or of another version.
class format_error : public error {
 public:
  using error::error;
};

/// The filter has reached its capacity and was created without growth.
class full_error : public error {
 public:
  using error::error;
};

/// A file, directory or memory could not be had.
class storage_error : public error {
 public:
  /// @param code  errno at the time, 0 if none applies    @param path  what it happened to
  storage_error(const std::string& message, int code, std::string path)
      : error(message), code_(code), path_(std::move(path)) {}
  [[nodiscard]] int code() const noexcept { return code_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  int code_;
  std::string path_;
};

/// Another process or server did not answer or refused. Retrying is safe.
class backend_error : public error {
 public:
  using error::error;
};

/// Why a batch was not answered whole.
///
/// Every key that has a verdict keeps it. The keys whose verdict is `unknown` have no answer: call again with
/// just these when the cause is gone; those that the filter cannot take, filter::refusal_of tells apart.
struct batch_failure {
  enum class cause : std::uint8_t {
    full,     ///< as full_error
    storage,  ///< as storage_error
    backend,  ///< as backend_error
    format,   ///< as format_error
    key,      ///< as parameter_error: the filter can never take a key, whose `unknown` is for good
  };

  cause why = cause::storage;
  std::string message;
  tally done;             ///< includes the unknown ones
  int code = 0;           ///< as storage_error has it
  std::string path = {};  ///< as storage_error has it

  /// Whether nothing behind the failing key was judged. A full filter still answers for the keys it holds,
  /// and a key that a filter cannot take says nothing of the others. After any other failure going on could
  /// add a later occurrence of a key whose first is unknown, and a retry of that one would then be told
  /// `seen`.
  [[nodiscard]] bool ends_batch() const noexcept { return why != cause::full && why != cause::key; }

  /// The failure that the exception now being handled amounts to. Anything that is not an expected failure of
  /// a batch is thrown on.
  static batch_failure from_current_exception();

  /// Throws the exception that fits the cause.
  [[noreturn]] void raise() const;
};

/// What a batch gives back beside its verdicts.
using batch_result = tl::expected<tally, batch_failure>;

}  // namespace everseen
