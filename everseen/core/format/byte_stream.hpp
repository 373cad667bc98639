#pragma once

#include <cstddef>
#include <functional>
#include <span>

/// Streams of bytes as callbacks, so that a pipe, a file or a socket will do.
namespace everseen::image {

/// Takes the next bytes of a stream.
using byte_sink = std::function<void(std::span<const std::byte>)>;
/// Fills part of the span, at least one byte, and returns the count; 0 at the end of the input.
using byte_source = std::function<std::size_t(std::span<std::byte>)>;

}  // namespace everseen::image
