#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/stream_arguments.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/store/ledger.hpp"
#include "everseen/stream/sink.hpp"
#include "everseen/stream/source.hpp"

/// What --from and --to name.
namespace everseen::cli {

struct stream_source {
  std::unique_ptr<source> opened;
  std::optional<std::uint64_t> total_bytes;
  std::string name;  ///< as for a sink, of a file
};
/// @throws parameter_error  it is none, or an option does not fit it    @throws storage_error, backend_error
[[nodiscard]] stream_source open_source(const stream_arguments& given);

struct stream_sink {
  std::unique_ptr<sink> opened;  // none: counters alone
  /// Of its own among the checkpoints of a job, where it keeps a note.
  std::string name;
};
/// @param seen  what remembers the keys    @param from  what open_source() opened; outlives the sink @param
/// descriptor  standard output
/// @throws  as open_source
[[nodiscard]] stream_sink open_sink(const stream_arguments& given, const filter& seen, source& from,
                                    int descriptor);

/// Machines have different files by one name, and one machine may get another name: so where a job knows a
/// file as another worker's, somebody must say which it is.
/// @param name  of a source or a sink, as above    @throws parameter_error, storage_error, backend_error
void must_be_our_worker(const stream_arguments& given, const ledger& book, const std::string& name);

}  // namespace everseen::cli
