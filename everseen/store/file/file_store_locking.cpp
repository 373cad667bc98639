// How a file_store gets the lock of a filter that it is about to write to, and what it then finds.

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "everseen/store/disk/lock_file.hpp"
#include "everseen/store/disk/name_file.hpp"
#include "everseen/store/file/expiry_file.hpp"
#include "everseen/store/file/file_replaced.hpp"
#include "everseen/store/file/file_store.hpp"
#include "everseen/store/file/manifest_file.hpp"
#include "everseen/store/file/staged_filter.hpp"
#include "everseen/store/port/damage.hpp"

namespace everseen {

file_store::occupant file_store::found_in(const std::filesystem::path& directory) const {
  if (is_replaced(directory)) return occupant::replaced;
  if (!is_filter(directory)) return occupant::none;
  return has_expired(directory, now_()) ? occupant::expired : occupant::live;
}

void file_store::require_live(std::string_view name, occupant found) {
  if (found == occupant::expired) throw filter_has_expired(name);
  if (found != occupant::live) throw no_such_filter(name);
}

namespace {

/// A filter whose name is lost is listed, so that it can be dropped; nothing else is done by that name.
void require_name(const std::filesystem::path& directory, std::string_view name) {
  if (is_name_lost(directory, name))
    throw damaged(directory / name, "does not hold the name of the filter, or is missing");
}

}  // namespace

void file_store::require(std::string_view name) const {
  const std::filesystem::path directory = directory_of(name);
  require_live(name, found_in(directory));
  require_name(directory, name);
}

file_store::held file_store::hold(std::string_view name, const std::function<void(occupant)>& accept) const {
  const std::filesystem::path directory = directory_of(name);
  const auto look = [&] {
    const occupant found = found_in(directory);
    accept(found);
    return found;
  };
  if (look() == occupant::none) return {occupant::none, {}};
  std::optional<lock_file> lock;
  try {
    lock = wait_for_lock(name);
  } catch (const no_filter&) {
    accept(occupant::none);
    return {occupant::none, {}};
  }
  const occupant found = look();
  if (found == occupant::none) lock.reset();
  return {found, std::move(lock)};
}

lock_file file_store::lock_filter(std::string_view name) const {
  const std::filesystem::path directory = directory_of(name);
  return *hold(name, [&](occupant found) {
            require_live(name, found);
            require_name(directory, name);
          }).lock;
}

std::optional<lock_file> file_store::make_way_for(std::string_view name, namesake there) const {
  const std::filesystem::path directory = directory_of(name);
  held place = hold(name, [&](occupant found) {
    if (found != occupant::live) return;
    if (there == namesake::refuse) throw filter_exists(name);
    require_name(directory, name);
  });
  if (!place.lock || place.found == occupant::live) return std::move(place.lock);
  remove_filter(disk_, directory, *std::move(place.lock), [] {});
  return std::nullopt;
}

/// Waits for another writer as long as the policy says; without one, not at all.
lock_file file_store::wait_for_lock(std::string_view name) const {
  constexpr std::chrono::milliseconds pause{50};
  const std::filesystem::path directory = directory_of(name);
  const auto waiting = policy_for_waiting();
  for (std::chrono::milliseconds lasted{0};; lasted += pause) {
    if (auto lock = try_to_lock(name)) {
      if (lasted.count() > 0) waiting->on_recovered();
      return *std::move(lock);
    }
    const std::string why =
        lock_file::holder_of(directory / lock_name) + " is writing to " + directory.string();
    if (!waiting || !waiting->tries_again({why, lasted, {}}))
      throw storage_error(
          why + "; wait until it has closed the filter (the program's --wait does), or open it for reading",
          EWOULDBLOCK, directory.string());
    std::this_thread::sleep_for(pause);
  }
}

std::optional<lock_file> file_store::try_to_lock(std::string_view name) const {
  const std::scoped_lock after_removing(removing_);  // else remove_expired() would look like a writer
  try {
    return lock_file::try_take(directory_of(name) / lock_name);
  } catch (const storage_error& e) {
    if (e.code() == ENOENT) throw no_such_filter(name);  // dropped a moment ago
    throw;
  }
}

}  // namespace everseen
