#include "everseen/store/unborn_filter.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "everseen/store/store.hpp"

namespace everseen {

namespace {

constexpr std::string_view hidden_prefix = ".new.";
constexpr const char* store_lock_name = ".lock";

std::filesystem::path hidden_name(const std::filesystem::path& store) {
  std::string name(hidden_prefix);
  for (const std::uint8_t byte : image::random_filter_id()) {
    constexpr std::string_view digits = "0123456789abcdef";
    name += {digits[byte >> 4], digits[byte & 15]};
  }
  return store / name;
}

void make_directory(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0777) != 0) throw disk_error("create the directory", path, errno);
}

/// What processes left behind that died while they made or removed a filter: nobody holds its lock.
/// @pre the store's lock is held, so that a directory without a locked lock file is nobody's
void remove_left_behind(const std::filesystem::path& store) {
  std::error_code ignored;  // leftovers cost space, not correctness
  for (const auto& entry : std::filesystem::directory_iterator(store, ignored)) {
    if (!entry.path().filename().string().starts_with(hidden_prefix)) continue;
    try {
      if (lock_file::try_take(entry.path() / lock_name)) std::filesystem::remove_all(entry.path(), ignored);
    } catch (const storage_error&) {
      // it was removed meanwhile, or is not ours to remove
    }
  }
}

bool is_there(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  throw disk_error("look at", path, errno);
}

}  // namespace

unborn_filter::unborn_filter(disk& on, std::filesystem::path store_directory)
    : disk_(on), store_(std::move(store_directory)), directory_(hidden_name(store_)) {
  const lock_file alone = lock_file::take(store_ / store_lock_name);
  remove_left_behind(store_);
  make_directory(directory_);
  try {
    lock_ = lock_file::try_take(directory_ / lock_name);
    make_directory(directory_ / segments_name);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
    throw;
  }
}

unborn_filter::~unborn_filter() {
  if (directory_.empty()) return;
  std::error_code ignored;  // the next one in this store tries again
  std::filesystem::remove_all(directory_, ignored);
}

lock_file unborn_filter::commit(std::string_view name, const image::manifest& m) {
  const std::filesystem::path place = store_ / name;
  check_disk(disk_.sync_directory(directory_ / segments_name), "sync", directory_ / segments_name);
  manifest_state ignored;
  replace_manifest(disk_, directory_, m, ignored);
  // rename(2) replaces no directory that has files in it, and a filter's always has.
  const int code = disk_.rename(directory_, place);
  if ((code == ENOTEMPTY || code == EEXIST) && is_filter(place)) throw filter_exists(name);
  if (code == ENOTEMPTY || code == EEXIST || code == ENOTDIR)
    throw storage_error(
        place.string() + " is there already and is not a filter; move it away or choose another name", code,
        place.string());
  check_disk(code, "rename the new filter to", place);
  directory_.clear();
  check_disk(disk_.sync_directory(store_), "sync", store_);
  return std::move(*lock_);
}

void remove_filter(disk& on, const std::filesystem::path& store_directory, std::string_view name,
                   lock_file /*lock*/) {
  const lock_file alone = lock_file::take(store_directory / store_lock_name);
  const std::filesystem::path place = store_directory / name;
  const std::filesystem::path hidden = hidden_name(store_directory);
  check_disk(on.rename(place, hidden), "remove", place);
  check_disk(on.sync_directory(store_directory), "sync", store_directory);
  std::error_code code;
  std::filesystem::remove_all(hidden, code);
  check_disk(code.value(), "remove", hidden);
}

bool is_filter(const std::filesystem::path& directory) {
  return is_there(directory / manifest_name) || is_there(directory / segments_name);
}

}  // namespace everseen
