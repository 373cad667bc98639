#pragma once

#include <cstdint>
#include <functional>
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
  std::string name;    ///< of a file: the lane
  std::string header;  ///< with --header: the first line
};
/// @throws parameter_error  it is none, or an option does not fit it    @throws storage_error, backend_error
/// @throws stopped  a noted signal came while the first line was waited for
[[nodiscard]] stream_source open_source(const stream_arguments& given);

struct stream_sink {
  std::unique_ptr<sink> opened;  // none: counters alone
  std::string target;            // a path, or what the sink is
  std::string worker;            // whose it is; empty where all workers share it
};
/// @param seen, book  what remembers the keys, and the job    @param from  what open_source() opened
/// @param descriptor  standard output    All outlive the sink.
/// @throws  as open_source
[[nodiscard]] stream_sink open_sink(const stream_arguments& given, const filter& seen, const ledger& book,
                                    source& from, int descriptor);

/// The mark of a sink among the checkpoints of a job (job_marks.hpp).
struct sink_place {
  std::string name;
  std::uint64_t order = 0;
};
/// A job puts out to one place: what it has put out elsewhere would not be there. With --move-output it goes
/// on at another one, and what was not settled is taken back from a file that it leaves.
/// @param say  shows a sentence to the user
/// @throws parameter_error  it has put out elsewhere so far
[[nodiscard]] sink_place place_of(const stream_arguments& given, const filter& seen, const ledger& book,
                                  const stream_sink& to, const std::function<void(const std::string&)>& say);

/// The same of a job that another worker may have put out to since.
/// @param mark  what place_of() said    @throws parameter_error  it has put out elsewhere
void must_be_the_place(const stream_arguments& given, const ledger& book, const stream_sink& to,
                       const sink_place& mark);

/// What --from or --to says, without the passwords in it.
[[nodiscard]] std::string end_without_secrets(const std::string& written);

/// Machines have different files by one name, and one machine may get another name: so where a job knows a
/// file as another worker's, somebody must say which it is.
/// @param name  of a source or a sink, as above    @throws parameter_error, storage_error, backend_error
void must_be_our_worker(const stream_arguments& given, const ledger& book, const std::string& name);

}  // namespace everseen::cli
