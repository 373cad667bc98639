#pragma once

/// EVERSEEN_ASSERT(condition): fails only on a bug in everseen, never on bad input.
///
/// Enabled in dev and sanitizer builds, removed from release builds. Input is checked by code that returns an
/// error; an assertion that input can trigger is itself a bug.

#if defined(EVERSEEN_ASSERTS)
#include <cstdio>
#include <cstdlib>

#define EVERSEEN_ASSERT(condition)                                                                        \
  ((condition) ? static_cast<void>(0)                                                                     \
               : (std::fprintf(stderr, "%s:%d: bug: %s does not hold\n", __FILE__, __LINE__, #condition), \
                  std::abort()))
#else
#define EVERSEEN_ASSERT(condition) static_cast<void>(0)
#endif
