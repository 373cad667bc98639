#include "everseen/foreign/attached/probe_scripts.hpp"

#include <algorithm>
#include <utility>

namespace everseen::foreign {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view replacement) {
  for (std::size_t position = text.find(from); position != std::string::npos;
       position = text.find(from, position + replacement.size()))
    text.replace(position, from.size(), replacement);
}

/// The Lua code that reads or sets probes `from` .. `target` of a key, in parts that fit Lua's registers. It
/// leaves the number of bits that were set in `sum`.
std::string bitfields(std::string_view command, std::string_view segment, std::string_view operation,
                      unsigned from, unsigned target) {
  constexpr unsigned at_once = 32;
  const std::string value = operation == "SET" ? ",'1'" : "";
  std::string text;
  for (unsigned first = from; first <= target; first += at_once) {
    const unsigned last = std::min(target, first + at_once - 1);
    std::string added;
    text += std::string(first == from ? "local " : "") + "old = call(" + std::string(command) + ", " +
            std::string(segment);
    for (unsigned i = first; i <= last; ++i) {
      text += ",'" + std::string(operation) + "','u1',p" + std::to_string(i) + value;
      added += (i == first ? "old[" : "+old[") + std::to_string(i - first + 1) + "]";
    }
    text += ")\n";
    text += first == from ? "local sum = " + added + "\n" : "sum = sum + " + added + "\n";
  }
  return text;
}

redis::script for_probes(std::string text, unsigned probes) {
  std::string all = "p1";   // p1,p2,...
  std::string rest = "p2";  // p2,p3,...
  for (unsigned i = 2; i <= probes; ++i) {
    all += ",p" + std::to_string(i);
    if (i > 2) rest += ",p" + std::to_string(i);
  }
  replace_all(text, "$HAS_REST",
              probes == 1 ? "return true"
                          : "local _," + rest + " = take(records, " + std::to_string(probes - 1) + ", at)\n" +
                                bitfields("bitfield", "segment", "GET", 2, probes) +
                                "return sum == " + std::to_string(probes - 1));
  replace_all(text, "$SET_ALL",
              "local _," + all + " = take(records, $PROBES, start)\n" +
                  bitfields("'BITFIELD'", "newest", "SET", 1, probes));
  replace_all(text, "$PROBES", std::to_string(probes));
  return redis::make_script(std::move(text));
}

}  // namespace

const redis::script& for_any_probes::operator[](unsigned probes) const {
  std::call_once(once_[probes], [&] { all_[probes] = for_probes(text_, probes); });
  return all_[probes];
}

}  // namespace everseen::foreign
