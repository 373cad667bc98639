#include "everseen/core/base/nearest.hpp"

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

/// Dashes before an option are never mistyped letters.
std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

}  // namespace

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t longest_word = 64;  // longer input is no typing error, and the table would be large
  constexpr std::size_t most_slips = 2, letters_for_two = 8;
  std::string_view best;
  std::size_t fewest = most_slips + 1;
  if (word.size() > longest_word) return best;
  word = without_dashes(word);
  for (const std::string_view candidate : candidates) {
    const std::string_view letters = without_dashes(candidate);
    const std::size_t longer = std::max(word.size(), letters.size());
    if (longer - std::min(word.size(), letters.size()) >= fewest)
      continue;  // which is at least as many slips
    const std::size_t count = slips(word, letters);
    if (count < fewest && 2 * count < letters.size() && (count < 2 || letters.size() >= letters_for_two)) {
      fewest = count;
      best = candidate;
    }
  }
  return best;
}

}  // namespace everseen
