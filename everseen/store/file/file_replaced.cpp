#include "everseen/store/file/file_replaced.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>

#include "everseen/store/disk/descriptor.hpp"
#include "everseen/store/disk/whole_file.hpp"
#include "everseen/store/file/manifest_file.hpp"

namespace everseen {

void mark_replaced(disk& on, const std::filesystem::path& filter_directory, const std::string& when_named) {
  replace_whole(on, filter_directory / replaced_name, std::as_bytes(std::span(when_named)));
  check_disk(on.sync_directory(filter_directory), "sync", filter_directory);
}

void unmark_replaced(disk& on, const std::filesystem::path& filter_directory) {
  const int code = on.unlink(filter_directory / replaced_name);
  if (code == ENOENT) return;
  check_disk(code, "remove", filter_directory / replaced_name);
  check_disk(on.sync_directory(filter_directory), "sync", filter_directory);
}

bool is_replaced(const std::filesystem::path& filter_directory) {
  const std::filesystem::path path = filter_directory / replaced_name;
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return false;
  if (!file) throw disk_error("open", path, errno);
  const std::string name = filter_directory.filename();
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw disk_error("look at", path, errno);
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) != name.size()) return false;
  return std::ranges::equal(read_whole(file, path, name.size()), std::as_bytes(std::span(name)));
}

}  // namespace everseen
