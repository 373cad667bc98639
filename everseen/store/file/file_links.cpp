#include "everseen/store/file/file_links.hpp"

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fcntl.h>

#include "everseen/core/base/names.hpp"
#include "everseen/core/format/file_names.hpp"
#include "everseen/store/disk/disk.hpp"
#include "everseen/store/disk/name_file.hpp"
#include "everseen/store/file/manifest_file.hpp"
#include "everseen/store/file/staged_filter.hpp"
#include "everseen/store/port/filter_admin.hpp"

namespace everseen {

namespace {

/// More than any record has; decode_link() checks the exact length.
constexpr std::uint64_t max_record_bytes = 4096;

/// @return nothing if there is no filter    @throws format_error  also: the record is missing
std::optional<std::vector<std::byte>> read_record(const std::filesystem::path& filter_directory) {
  const std::filesystem::path path = filter_directory / link_name;
  // Twice, because the filter may have been created between the first look for the record and for the filter.
  for (int look = 0; look < 2; ++look) {
    const descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno != ENOENT && errno != ENOTDIR) throw disk_error("open", path, errno);
    if (file) return read_whole(file, path, max_record_bytes);
    if (!is_filter(filter_directory)) return std::nullopt;
  }
  throw damaged(path, "is missing");
}

std::optional<predecessor> decode_record(const std::filesystem::path& filter_directory,
                                         std::span<const std::byte> record) {
  return at_path(filter_directory / link_name, [&] { return image::decode_link(record); });
}

void write_record(disk& on, const std::filesystem::path& filter_directory, std::span<const std::byte> bytes) {
  replace_whole(on, filter_directory / link_name, bytes);
  check_disk(on.sync_directory(filter_directory), "sync", filter_directory);
}

void require_filter(const std::filesystem::path& directory, std::string_view name) {
  if (!is_filter(directory)) throw no_such_filter(name);
}

}  // namespace

file_links::file_links(disk& on, std::filesystem::path store_directory, time_source clock)
    : disk_(on), store_(std::move(store_directory)), clock_(std::move(clock)) {}

std::filesystem::path file_links::directory_of(std::string_view name) const {
  return find_directory(store_, name);
}

std::optional<predecessor> file_links::of(std::string_view name) const try {
  auto older = asked_in(directory_of(name));
  if (older && older->name == name) throw damaged(directory_of(name) / link_name, "names its own filter");
  return older;
} catch (const format_error& e) {
  throw format_error(std::string(e.what()) + ", or end the link: everseen link --off " + name_argument(name));
}

std::optional<predecessor> file_links::asked_in(const std::filesystem::path& directory) const {
  const auto record = read_record(directory);
  if (!record) return std::nullopt;
  auto older = decode_record(directory, *record);
  if (!older || older->is_over(clock_())) return std::nullopt;
  return older;
}

/// Whether the record says that there is no link, or one that has ended; false if it is damaged.
bool file_links::asks_none(const std::filesystem::path& directory) const try {
  return !asked_in(directory);
} catch (const format_error&) {
  return false;
}

filter_links file_links::all() const {
  filter_links live;
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(store_, code)) {
    if (!may_be_filter(entry.path())) continue;
    try {
      auto older = asked_in(entry.path());
      if (!older || !is_filter(entry.path()) || has_expired(entry.path(), clock_())) continue;
      std::string newer = presumed_name(entry.path());
      if (older->name != newer) live.push_back({std::move(newer), *std::move(older)});
    } catch (const format_error&) {
      // it cannot be opened either
    } catch (const storage_error& e) {
      if (e.code() != EACCES) throw;
      // another user's filter; its owner gets an error if the filter that it asks is gone
    }
  }
  if (code != std::errc::no_such_file_or_directory) check_disk(code.value(), "list", store_);
  return live;
}

spec file_links::spec_of(std::string_view name) const {
  const std::filesystem::path directory = directory_of(name);
  require_filter(directory, name);
  const auto manifest = read_manifest::from(directory);
  if (!manifest) throw damaged(directory / manifest_name, "is missing");
  (void)of(name);
  return manifest->content().spec;
}

void file_links::link(std::string_view older, std::string_view newer,
                      std::optional<std::chrono::milliseconds> life) const {
  const lock_file alone = lock_store(store_);
  const spec old = spec_of(older), next = spec_of(newer);
  require_linkable(all(), {older, old}, {newer, next});
  write_record(disk_, directory_of(newer),
               image::encode_link(predecessor{std::string(older), end_of_link(clock_(), life)}));
}

void file_links::unlink(std::string_view newer) const {
  const std::filesystem::path directory = directory_of(newer);
  require_filter(directory, newer);
  const lock_file alone = lock_store(store_);
  if (asks_none(directory)) refuse_unlinked(newer);
  write_record(disk_, directory, image::encode_link(std::nullopt));
}

void file_links::require_unasked(const std::filesystem::path& directory) const {
  for (const filter_link& each : all())
    if (file_names::of(each.older.name) == directory.filename())
      everseen::require_unasked({each}, each.older.name);
}

void write_no_link(disk& on, const std::filesystem::path& filter_directory) {
  replace_whole(on, filter_directory / link_name, image::encode_link(std::nullopt));
}

void carry_link(disk& on, const std::filesystem::path& from_directory,
                const std::filesystem::path& to_directory) {
  if (const auto record = read_record(from_directory)) write_record(on, to_directory, *record);
}

}  // namespace everseen
