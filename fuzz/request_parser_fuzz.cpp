// Any bytes from a client, in any pieces: no crash, no word outside of the input, memory within the limits,
// and the same requests for every way of splitting the bytes.
//
// Decodes: everseen/wire/request_parser.cpp

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/wire/request_parser.hpp"

namespace {

using everseen::wire::request_limits;
using everseen::wire::request_parser;

constexpr request_limits limits{
    .arguments = 64, .argument_bytes = 1 << 10, .request_bytes = 4 << 10, .inline_bytes = 256};

/// All requests as text, and the fault.
std::string read_all(std::string_view bytes, std::size_t piece) {
  request_parser parser(limits);
  std::string all;
  for (std::size_t used = 0, come = 0; come < bytes.size();) {
    come = std::min(bytes.size(), come + piece);
    const std::vector<char> unread(bytes.begin() + static_cast<std::ptrdiff_t>(used),
                                   bytes.begin() + static_cast<std::ptrdiff_t>(come));
    std::string_view rest(unread.data(), unread.size());
    for (;;) {
      const auto is = parser.next(rest);
      if (is == request_parser::outcome::malformed) return all + parser.fault();
      if (is == request_parser::outcome::incomplete) break;
      if (parser.size() == 0 || parser.size() > rest.size()) std::abort();
      if (parser.words().size() > limits.arguments) std::abort();
      for (const std::string_view word : parser.words()) all.append(word).append(" ");
      all += '\n';
      rest.remove_prefix(parser.size());
      used += parser.size();
    }
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size == 0 || size > 1 << 16) return 0;
  const std::string whole = read_all(bytes, size);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}})
    if (read_all(bytes, piece) != whole) std::abort();
  return 0;
}
