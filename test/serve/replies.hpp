#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "test/serve/raw_client.hpp"

namespace everseen::test {

/// One reply of the Redis protocol, of either version.
struct reply {
  char type = 0;       ///< its first byte
  std::string text{};  ///< of a reply without parts
  bool is_null = false;
  std::vector<reply> parts{};  ///< a map has its keys and values in turn

  [[nodiscard]] bool is_error() const noexcept { return type == '-'; }
};

inline reply receive_reply(raw_client& from) {
  const std::string line = from.receive_line();
  reply r;
  if (line.empty()) return r;
  r.type = line[0];
  r.text = line.substr(1);
  r.is_null = r.type == '_' || (r.text == "-1" && (r.type == '$' || r.type == '*'));
  if ((r.type == '$' || r.type == '=') && !r.is_null) {
    const std::size_t count = std::stoul(r.text);
    r.text = from.receive(count + 2).substr(0, count);
  }
  if (std::string_view("*%~").find(r.type) != std::string_view::npos && !r.is_null) {
    const std::size_t count = std::stoul(r.text) * (r.type == '%' ? 2 : 1);
    for (std::size_t i = 0; i < count; ++i) r.parts.push_back(receive_reply(from));
  }
  return r;
}

/// Sends a request as a line that a person types.
inline reply ask(raw_client& client, const std::string& line) {
  client.send(line + "\r\n");
  return receive_reply(client);
}

/// The parts that a program relies on: the types, the nesting, the text of an error or status, the keys of a
/// map. Parts of the same shape count once.
inline std::string shape_of(const reply& r) {
  if (r.is_error() || r.type == '+') return r.type + r.text;
  if (r.is_null) return std::string(1, r.type) + "null";
  std::string shape(1, r.type);
  if (r.type == '%') {
    std::set<std::string> entries;
    for (std::size_t i = 0; i + 1 < r.parts.size(); i += 2)
      entries.insert(r.parts[i].text + "=" + shape_of(r.parts[i + 1]));
    for (const std::string& each : entries) shape += "(" + each + ")";
    return shape;
  }
  std::string last;
  for (const reply& part : r.parts) {
    std::string next = shape_of(part);
    if (next != last) shape += "(" + next + ")";
    last = std::move(next);
  }
  return shape;
}

}  // namespace everseen::test
