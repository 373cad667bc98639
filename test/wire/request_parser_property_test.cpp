#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "everseen/wire/request_parser.hpp"

namespace everseen::wire {
namespace {

using request = std::vector<std::string>;
using outcome = request_parser::outcome;

std::string encode(const std::vector<request>& requests) {
  std::string bytes;
  for (const request& r : requests) {
    bytes += "*" + std::to_string(r.size()) + "\r\n";
    for (const std::string& word : r) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

/// Parses bytes that arrive in pieces, each time from separate memory, as a growing buffer would provide.
std::vector<request> parse_in_pieces(const std::string& bytes, const std::vector<std::size_t>& cuts,
                                     bool& faulty) {
  request_parser parser({});
  std::vector<request> requests;
  std::size_t used = 0, come = 0;
  faulty = false;
  for (std::size_t i = 0; come < bytes.size(); ++i) {
    const std::size_t piece = cuts.empty() ? bytes.size() : 1 + cuts[i % cuts.size()] % 50;
    come = std::min(bytes.size(), come + piece);
    const std::vector<char> unread(bytes.begin() + static_cast<std::ptrdiff_t>(used),
                                   bytes.begin() + static_cast<std::ptrdiff_t>(come));
    std::string_view rest(unread.data(), unread.size());
    for (;;) {
      const outcome is = parser.next(rest);
      if (is == outcome::malformed) return faulty = true, requests;
      if (is == outcome::incomplete) break;
      requests.emplace_back(parser.words().begin(), parser.words().end());
      rest.remove_prefix(parser.size());
      used += parser.size();
    }
  }
  return requests;
}

RC_GTEST_PROP(RequestParserProperty, AnyCutParsesTheSame,
              (const std::vector<request>& requests, const std::vector<std::size_t>& cuts)) {
  bool faulty = false;
  RC_ASSERT(parse_in_pieces(encode(requests), cuts, faulty) == requests);
  RC_ASSERT(!faulty);
}

RC_GTEST_PROP(RequestParserProperty, AnyCutOfAnyInputParsesTheSame, (const std::vector<std::size_t>& cuts)) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(
      rc::gen::element<std::string>("*", "$", "\r\n", "\n", "1", "2", "3", "-", "a", "'", "\"", "\\x41", " ",
                                    "*1\r\n$1\r\na\r\n", "PING\r\n"));
  std::string bytes;
  for (const std::string& each : pieces) bytes += each;
  bool faulty_whole = false, faulty_cut = false;
  const auto whole = parse_in_pieces(bytes, {}, faulty_whole);
  RC_ASSERT(parse_in_pieces(bytes, cuts, faulty_cut) == whole);
  RC_ASSERT(faulty_cut == faulty_whole);
}

}  // namespace
}  // namespace everseen::wire
