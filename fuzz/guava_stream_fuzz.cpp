// A readable Guava stream must be written again byte for byte, and its filter must answer for any key.

#include <algorithm>
#include <cstdlib>
#include <span>

#include "everseen/core/base/error.hpp"
#include "everseen/foreign/guava/guava_stream.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace everseen;
  const auto input = std::as_bytes(std::span(data, size));
  try {
    foreign::guava::filter read = foreign::guava::decode(input);
    if (!std::ranges::equal(foreign::guava::encode(read), input)) std::abort();
    read.add("any key");
    if (!read.may_contain("any key")) std::abort();
  } catch (const format_error&) {
    // refused, as most inputs should be
  }
  return 0;
}
