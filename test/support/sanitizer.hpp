#pragma once

namespace everseen::test {

/// Whether this build has a sanitizer: programs are then several times as slow and as large.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool is_sanitized = true;
#else
inline constexpr bool is_sanitized = false;
#endif

}  // namespace everseen::test
