#include "test/support/history/checker.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include "test/support/history/key_history.hpp"
#include "test/support/history/shrinking.hpp"

namespace everseen::test::history {

finding check(const record& all, const exceptions& allowed) {
  std::set<int> keys;
  for (const operation& o : all)
    for (const asked_key& k : o.keys) keys.insert(k.key);
  finding found;
  for (const int key : keys) {
    const key_history mine(all, key, allowed);
    const searched result = mine.search();
    found.visited += result.visited;
    if (result.is == judgement::linearizable) continue;
    found.is = result.is;
    found.key = key;
    if (result.is == judgement::contradictory) {
      found.contradiction = smallest_contradiction(all, key, allowed);
      return found;
    }
  }
  return found;
}

}  // namespace everseen::test::history
