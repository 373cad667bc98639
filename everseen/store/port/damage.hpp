#pragma once

#include <filesystem>
#include <string>

#include "everseen/core/base/error.hpp"

namespace everseen {

/// A format_error about a file of a filter, with the same advice for all files.
[[nodiscard]] inline format_error damaged(const std::filesystem::path& path, const std::string& problem) {
  return format_error(path.string() + " " + problem + "; restore the filter from an export or drop it");
}

/// Runs a decoder and adds the file name to its exceptions.
template <typename Decode>
auto at_path(const std::filesystem::path& path, Decode decode) {
  try {
    return decode();
  } catch (const format_error& e) {
    throw format_error(path.string() + ": " + e.what());
  } catch (const parameter_error& e) {
    throw damaged(path, std::string("makes no sense: ") + e.what());
  }
}

}  // namespace everseen
