#include "everseen/text/nearest.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace everseen {

namespace {

/// Edit distance with swaps of neighbours (optimal string alignment distance).
std::size_t slips(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t longest_word = 64;  // longer input is no typing error, and the table would be large
  std::string_view best;
  std::size_t fewest = 3;
  if (word.size() > longest_word) return best;
  for (const std::string_view candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) >= fewest)
      continue;  // which is at least as many slips
    const std::size_t count = slips(word, candidate);
    if (count < fewest && 2 * count < candidate.size()) {
      fewest = count;
      best = candidate;
    }
  }
  return best;
}

}  // namespace everseen
