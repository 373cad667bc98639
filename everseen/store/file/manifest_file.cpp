#include "everseen/store/file/manifest_file.hpp"

#include <cerrno>
#include <charconv>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/core/format/file_records.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/file/staged_filter.hpp"

namespace everseen {

namespace {

/// Enough for 26 million segments; more cannot be mapped.
constexpr std::uint64_t max_manifest_bytes = std::uint64_t{1} << 30;

}  // namespace

std::optional<read_manifest> read_manifest::from(const std::filesystem::path& filter_directory) {
  std::filesystem::path path = filter_directory / manifest_name;
  descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) throw disk_error("open", path, errno);
  return read_manifest(std::move(path), std::move(file));
}

read_manifest::read_manifest(std::filesystem::path path, descriptor file)
    : path_(std::move(path)), file_(std::move(file)), content_(at_path(path_, [&] {
        return image::decode_manifest(read_whole(file_, path_, max_manifest_bytes));
      })) {}

bool read_manifest::is_current() const noexcept {
  struct stat mine {
  }, there{};
  return ::fstat(file_.get(), &mine) == 0 && ::stat(path_.c_str(), &there) == 0 &&
         mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

void replace_manifest(disk& on, const std::filesystem::path& filter_directory, const image::manifest& m,
                      manifest_state& reached) {
  reached = manifest_state::unchanged;
  replace_whole(on, filter_directory / manifest_name, image::encode_manifest(m));
  reached = manifest_state::uncertain;
  check_disk(on.sync_directory(filter_directory), "sync", filter_directory);
  reached = manifest_state::replaced;
}

image::manifest new_manifest(const spec& s) {
  image::manifest m;
  m.filter = image::random_filter_id();
  m.spec = s;
  m.clean = true;
  return m;
}

bool is_segment_name(std::string_view name) noexcept {
  const char* cursor = name.data();
  const char* const end = cursor + name.size();
  for (int field = 0; field < 3; ++field) {
    std::int64_t number = 0;
    const auto [next, code] = std::from_chars(cursor, end, number);
    if (code != std::errc() || (field < 2 && (next == end || *next != '.'))) return false;
    cursor = field < 2 ? next + 1 : next;
  }
  return cursor == end;
}

std::optional<event_time> read_expiry(const std::filesystem::path& filter_directory) {
  const std::filesystem::path path = filter_directory / end_name;
  const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno != ENOENT && errno != ENOTDIR) throw disk_error("open", path, errno);
  if (!file && !is_filter(filter_directory)) return std::nullopt;
  if (!file) throw damaged(path, "is missing");
  return at_path(path, [&] { return image::decode_end(read_whole(file, path, image::end_bytes)); });
}

bool has_expired(const std::filesystem::path& filter_directory, event_time current_time) try {
  const auto end = read_expiry(filter_directory);
  return end && *end <= current_time;
} catch (const format_error&) {
  return false;
}

void write_expiry(disk& on, const std::filesystem::path& filter_directory, std::optional<event_time> when) {
  replace_whole(on, filter_directory / end_name, image::encode_end(when));
}

}  // namespace everseen
