// The part of a history that concerns one key, and the search for an order of it.

#pragma once

#include <cstddef>
#include <vector>

#include "test/support/history/checker.hpp"
#include "test/support/history/key_state.hpp"

namespace everseen::test::history {

struct searched {
  judgement is = judgement::linearizable;
  std::size_t visited = 0;
};

/// Refers to the record, which must outlive it.
class key_history {
 public:
  key_history(const record& all, int key, const exceptions& allowed);

  [[nodiscard]] searched search() const;

 private:
  void take(const operation& o, int key, const record& all);
  void settle_repeats();
  void settle_steps();
  void look_ahead();

  exceptions allowed_;
  std::vector<key_operation> operations_{};
  int lives_ = 0;
  int handles_ = 0;
  int events_ = 0;
};

}  // namespace everseen::test::history
