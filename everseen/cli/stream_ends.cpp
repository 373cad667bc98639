#include "everseen/cli/stream_ends.hpp"

#include "everseen/stream/file_sink.hpp"
#include "everseen/stream/file_source.hpp"

namespace everseen::cli {

stream_source open_source(const stream_arguments& given) {
  file_source::options how;
  how.separator = given.zero ? '\0' : '\n';
  how.follow = given.follow;
  if (given.block_bytes) how.block_bytes = *given.block_bytes;
  auto file = std::make_unique<file_source>(*given.from, how);
  const auto bytes = given.follow ? std::nullopt : file->total_bytes();
  return {std::move(file), bytes};
}

stream_sink open_sink(const stream_arguments& given, int descriptor) {
  if (counts_only(given) || given.dry_run) return {};
  if (*given.to == "-") return {std::make_unique<output_sink>(descriptor, "standard output"), {}};
  auto file = std::make_unique<file_sink>(*given.to);
  std::string name = "> " + file->path();
  return {std::move(file), std::move(name)};
}

}  // namespace everseen::cli
