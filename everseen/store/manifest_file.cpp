#include "everseen/store/manifest_file.hpp"

#include <cerrno>
#include <charconv>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "everseen/store/damage.hpp"

namespace everseen {

namespace {

constexpr std::uint64_t max_manifest_bytes = std::uint64_t{1}
                                             << 30;  // 26 million segments: more cannot be mapped

std::vector<std::byte> read_all(const descriptor& file, const std::filesystem::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw disk_error("read the length of", path, errno);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > max_manifest_bytes)
    throw damaged(path, "is " + std::to_string(size) + " bytes long, which is no manifest's");
  std::vector<std::byte> bytes(size);
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw disk_error("read", path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  bytes.resize(filled);
  return bytes;
}

void write_all(int file, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw disk_error("write", path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void write_beside(disk& on, const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file) throw disk_error("create", path, errno);
  check_disk(on.reserve(file.get(), bytes.size(), path), "reserve space for", path);
  write_all(file.get(), bytes, path);
  check_disk(on.sync_file(file.get(), path), "sync", path);
}

}  // namespace

std::optional<read_manifest> read_manifest::from(const std::filesystem::path& filter_directory) {
  std::filesystem::path path = filter_directory / manifest_name;
  descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) throw disk_error("open", path, errno);
  return read_manifest(std::move(path), std::move(file));
}

read_manifest::read_manifest(std::filesystem::path path, descriptor file)
    : path_(std::move(path)),
      file_(std::move(file)),
      content_(at_path(path_, [&] { return image::decode_manifest(read_all(file_, path_)); })) {}

bool read_manifest::is_current() const noexcept {
  struct stat mine {
  }, there{};
  return ::fstat(file_.get(), &mine) == 0 && ::stat(path_.c_str(), &there) == 0 &&
         mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

void replace_manifest(disk& on, const std::filesystem::path& filter_directory, const image::manifest& m,
                      manifest_state& reached) {
  const std::filesystem::path beside = filter_directory / new_manifest_name;
  reached = manifest_state::unchanged;
  try {
    write_beside(on, beside, image::encode_manifest(m));
    check_disk(on.rename(beside, filter_directory / manifest_name), "replace",
               filter_directory / manifest_name);
  } catch (...) {
    ::unlink(beside.c_str());  // perhaps it was the space for this file that was missing
    throw;
  }
  reached = manifest_state::uncertain;
  check_disk(on.sync_directory(filter_directory), "sync", filter_directory);
  reached = manifest_state::replaced;
}

bool is_segment_name(std::string_view name) noexcept {
  const char* at = name.data();
  const char* const end = at + name.size();
  for (int field = 0; field < 3; ++field) {
    std::int64_t number = 0;
    const auto [next, code] = std::from_chars(at, end, number);
    if (code != std::errc() || (field < 2 && (next == end || *next != '.'))) return false;
    at = field < 2 ? next + 1 : next;
  }
  return at == end;
}

}  // namespace everseen
