#pragma once

#include <ostream>

#include "everseen/core/base/verdict.hpp"

/// Printing of verdicts and tallies in the messages of failed tests.
namespace everseen {

inline std::ostream& operator<<(std::ostream& out, verdict v) {
  return out << to_string(v);
}

inline std::ostream& operator<<(std::ostream& out, const tally& t) {
  return out << t.fresh << " fresh, " << t.seen << " seen, " << t.late << " late, " << t.unknown
             << " unknown";
}

}  // namespace everseen
