// How a file_store gets the lock of a filter that it is about to write to.

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include "everseen/store/disk/lock_file.hpp"
#include "everseen/store/file/file_store.hpp"
#include "everseen/store/file/manifest_file.hpp"

namespace everseen {

/// Waits for another writer as long as the policy says; without one, not at all.
lock_file file_store::lock_to_write(std::string_view name) const {
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
          why + "; wait until it has closed the filter (as --wait does), or open it for reading", EWOULDBLOCK,
          directory.string());
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
