#pragma once

#include <string>

namespace everseen::test {

/// Lines of which every third repeats an earlier one.
inline std::string numbered_lines(unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += "line " + std::to_string(i % 3 == 2 ? i / 2 : i) + "\n";
  return text;
}

}  // namespace everseen::test
