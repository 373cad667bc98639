#include "everseen/capi/handles.hpp"

#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <span>

namespace everseen::capi {

namespace {

constexpr const char* out_of_memory = "out of memory";

/// The message of this thread's last failure; null: `out_of_memory`, for which no memory may be left.
thread_local std::optional<std::string> last_message{std::in_place};

everseen_status fail(everseen_status status, const char* message) noexcept {
  try {
    last_message = message;
    return status;
  } catch (...) {
    last_message.reset();
    return EVERSEEN_NO_MEMORY;
  }
}

}  // namespace

everseen_status status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const no_filter& e) {
    return fail(EVERSEEN_NOT_FOUND, e.what());
  } catch (const name_taken& e) {
    return fail(EVERSEEN_NAME_TAKEN, e.what());
  } catch (const parameter_error& e) {
    return fail(EVERSEEN_INVALID, e.what());
  } catch (const format_error& e) {
    return fail(EVERSEEN_DAMAGED, e.what());
  } catch (const full_error& e) {
    return fail(EVERSEEN_FULL, e.what());
  } catch (const storage_error& e) {
    return fail(EVERSEEN_STORAGE, e.what());
  } catch (const backend_error& e) {
    return fail(EVERSEEN_BACKEND, e.what());
  } catch (const std::bad_alloc&) {
    last_message.reset();
    return EVERSEEN_NO_MEMORY;
  } catch (const std::exception& e) {
    return fail(EVERSEEN_INTERNAL, e.what());
  } catch (...) {
    return fail(EVERSEEN_INTERNAL, "an unknown exception");
  }
}

void must_not_be_null(const void* pointer, const char* subject) {
  if (pointer == nullptr) throw parameter_error(std::string(subject) + " must not be null");
}

std::string_view key_in(const void* bytes, std::size_t length) {
  if (length == 0) return {};
  must_not_be_null(bytes, "bytes");
  return {static_cast<const char*>(bytes), length};
}

std::vector<event_time> times_of(bool has_window, given_times given, std::size_t keys) {
  if (given.count > 1 && given.count != keys)
    throw parameter_error("there are " + std::to_string(given.count) + " times for " + std::to_string(keys) +
                          " keys; give none, one for all, or one per key");
  if (given.count > 0) must_not_be_null(given.ms, "times");
  if (!has_window) return {};
  if (given.count == 0)
    return {std::chrono::time_point_cast<event_time::duration>(std::chrono::system_clock::now())};
  std::vector<event_time> times;
  for (const std::int64_t ms : std::span(given.ms, given.count))
    times.emplace_back(std::chrono::milliseconds(ms));
  return times;
}

}  // namespace everseen::capi

namespace capi = everseen::capi;

const char* everseen_last_error(void) {
  return capi::last_message ? capi::last_message->c_str() : capi::out_of_memory;
}

const char* everseen_version(void) {
  return EVERSEEN_VERSION;
}
