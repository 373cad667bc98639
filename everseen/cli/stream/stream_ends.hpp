#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "everseen/cli/stream/stream_arguments.hpp"
#include "everseen/filter/filter.hpp"
#include "everseen/jobs/port/sink.hpp"
#include "everseen/jobs/port/source.hpp"
#include "everseen/store/port/ledger.hpp"

/// The source and the sink that --from and --to name.
namespace everseen::cli {

struct stream_source {
  std::unique_ptr<source> opened;
  std::optional<std::uint64_t> total_bytes;
  std::string name;                   ///< of a file: the lane
  std::optional<std::string> header;  ///< with --header: the first line; nothing: the input is empty
};
/// @throws parameter_error  not a source, or an option does not fit it    @throws storage_error,
///         backend_error
/// @throws stopped  a recorded signal arrived while it waited for the first line
[[nodiscard]] stream_source open_source(const stream_arguments& given);

struct stream_sink {
  std::unique_ptr<sink> opened;  // null: only counters
  std::string target;            // a path, or a description of the sink
  std::string worker;            // its owner; empty if all workers share it
};
/// @param f, ledger  the filter, and the job's ledger    @param from  what open_source() opened
/// @param descriptor  standard output    All outlive the sink.
/// @throws  as open_source
[[nodiscard]] stream_sink open_sink(const stream_arguments& given, const filter& f, const ledger& ledger,
                                    const stream_source& from, int descriptor);

/// Whether the sink takes the values of records alone, so that a record without one cannot be copied there.
[[nodiscard]] bool sink_needs_value(const stream_arguments& given);

/// The name and order of a sink's checkpoint (job_marks.hpp).
struct sink_place {
  std::string name;
  std::uint64_t order = 0;
};
/// Ensures that a job puts out to one place: with several, each would have only part of the output. With
/// --move-output the job continues at another place, and unsettled records are taken back from the file that
/// it leaves.
/// @param say  shows a sentence to the user
/// @throws parameter_error  the job has put out to another place so far
[[nodiscard]] sink_place place_of(const stream_arguments& given, const filter& f, const ledger& ledger,
                                  const stream_sink& target,
                                  const std::function<void(const std::string&)>& say);

/// The same check for a job that another worker may have used in the meantime.
/// @param mark  the result of place_of()    @throws parameter_error  the job has put out to another place
void must_be_the_place(const stream_arguments& given, const ledger& ledger, const stream_sink& target,
                       const sink_place& mark);

/// The value of --from or --to, without passwords.
[[nodiscard]] std::string end_without_secrets(const std::string& written);

/// Different machines have different files of the same name, and a machine may get a new name. So if a job
/// knows a file as another worker's, the user must say which it is.
/// @param name  of a source or a sink, as above    @throws parameter_error, storage_error, backend_error
void must_be_our_worker(const stream_arguments& given, const ledger& ledger, const std::string& name);

}  // namespace everseen::cli
