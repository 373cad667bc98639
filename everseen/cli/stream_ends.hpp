#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/stream_arguments.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/stream/sink.hpp"
#include "everseen/stream/source.hpp"

/// What --from and --to name.
namespace everseen::cli {

struct stream_source {
  std::unique_ptr<source> opened;
  std::optional<std::uint64_t> total_bytes;
};
/// @throws parameter_error  it is none, or an option does not fit it    @throws storage_error, backend_error
[[nodiscard]] stream_source open_source(const stream_arguments& given);

struct stream_sink {
  std::unique_ptr<sink> opened;  // none: counters alone
  /// Of its own among the checkpoints of a job, where it keeps a note.
  std::string name;
};
/// @param seen  what remembers the keys    @param from  what open_source() opened; outlives the sink    @param descriptor  standard output
/// @throws  as open_source
[[nodiscard]] stream_sink open_sink(const stream_arguments& given, const filter& seen, source& from,
                                    int descriptor);

}  // namespace everseen::cli
