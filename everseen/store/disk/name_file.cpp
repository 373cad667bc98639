#include "everseen/store/disk/name_file.hpp"

#include <cerrno>
#include <new>
#include <span>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/file_names.hpp"
#include "everseen/core/spec/spec.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen {

std::optional<std::string> name_of_directory(const std::filesystem::path& filter_directory) {
  const std::string file_name = filter_directory.filename();
  if (!file_names::is_hash(file_name)) return file_names::spelled(file_name);
  const std::filesystem::path path = filter_directory / file_name;
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (!file) throw disk_error("open", path, errno);
  const auto bytes = read_whole(file, path, max_name_bytes);
  std::string name(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!is_name(name) || file_names::of(name) != file_name)
    throw damaged(path, "does not hold the name of the filter");
  return name;
}

bool may_be_filter(const std::filesystem::path& directory) {
  const std::string file_name = directory.filename();
  return file_names::is_hash(file_name) || file_names::spelled(file_name);
}

std::filesystem::path find_directory(const std::filesystem::path& store, std::string_view name) {
  validate_filter_name(name);
  std::filesystem::path place = store / file_names::of(name);
  std::error_code ignored;
  if (!file_names::is_hash(name) || std::filesystem::exists(place, ignored)) return place;
  std::filesystem::path lost = store / name;
  try {
    if (name_of_directory(lost)) return place;
  } catch (const format_error&) {
    // the file has another content
  }
  return std::filesystem::is_directory(lost, ignored) ? lost : place;
}

bool is_name_lost(const std::filesystem::path& filter_directory, std::string_view name) {
  return file_names::is_hash(name) && filter_directory.filename() == name;
}

std::string presumed_name(const std::filesystem::path& filter_directory) try {
  return name_of_directory(filter_directory).value_or(filter_directory.filename());
} catch (const error&) {
  return filter_directory.filename();
}

void write_name(disk& on, const std::filesystem::path& filter_directory, std::string_view name) {
  const std::string file_name = file_names::of(name);
  if (!file_names::is_hash(file_name)) return;
  replace_whole(on, filter_directory / file_name, std::as_bytes(std::span(name)));
  check_disk(on.sync_directory(filter_directory), "sync", filter_directory);
}

int remove_names(const std::filesystem::path& filter_directory, bool all) noexcept try {
  std::error_code code;
  // Collect names first: iterating over a directory while it changes is unspecified.
  std::vector<std::filesystem::path> own;
  for (std::filesystem::directory_iterator at(filter_directory, code), end; !code && at != end;
       at.increment(code)) {
    const std::string file_name = at->path().filename();
    std::string_view name = file_name;
    const bool is_unfinished = name.ends_with(".new");
    if (is_unfinished) name.remove_suffix(4);
    if (file_names::is_hash(name) && (all || is_unfinished || name != filter_directory.filename()))
      own.push_back(at->path());
  }
  for (const auto& path : own) ::unlink(path.c_str());
  return code.value();
} catch (const std::bad_alloc&) {
  return ENOMEM;
}

}  // namespace everseen
