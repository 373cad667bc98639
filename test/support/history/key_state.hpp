// What a single filter store knows of one key, and how each operation changes it.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "test/support/history/checker.hpp"
#include "test/support/history/history.hpp"

namespace everseen::test::history {

/// An operation as one key sees it.
struct key_operation {
  const operation* from = nullptr;
  moment call = 0;  ///< from when on it may happen
  moment back = never;
  bool is_lost = false;         ///< it need not happen
  bool only_looks = false;      ///< it adds nothing
  bool may_look_ahead = false;  ///< exceptions::looks_ahead: its `seen` may be of a key that is not there
  /// Where it changes nothing, it makes no difference to the others that it happens then.
  bool can_happen_at_once = false;
  int handle = -1;  ///< by number among those of the history: the one it uses, or makes
  int life = 0;     ///< of a creation: its filter. Numbers begin at 1
  int after = -1;   ///< by number: the one that happens before it
  /// One that finds its filter by name may do so in a step of its own: it is then two, of which the second
  /// concerns the filter that the first has found.
  enum class part : std::uint8_t { whole, finding, doing } part = part::whole;
  /// Occurrences of this key; the claims' events by number among the key's own.
  std::vector<asked_key> keys{};
};

/// The state for one key: which filters there are, and which of them have the key. Compared as bytes.
class key_state {
 public:
  static constexpr int most_names = 2;

  key_state(int lives, int handles, int events);

  /// Does an operation.
  /// @return false  a single store would not have answered so; the state is then of no use
  [[nodiscard]] bool apply(const key_operation& o, std::span<const key_operation> all,
                           const exceptions& allowed);

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  friend bool operator==(const key_state&, const key_state&) = default;

 private:
  // Each byte is a number: the life of each name and handle, the bits of each life, and the verdict of each
  // event; two for each life's end and for its drop, the number of the operation plus one.
  static constexpr std::size_t bytes_of_life = 5;
  [[nodiscard]] std::uint8_t at(std::size_t i) const { return static_cast<std::uint8_t>(bytes_[i]); }
  void set(std::size_t i, int value) { bytes_[i] = static_cast<char>(value); }
  [[nodiscard]] int named(int name) const { return at(static_cast<std::size_t>(name)); }
  [[nodiscard]] std::size_t bits_of(int life) const {
    return most_names + bytes_of_life * static_cast<std::size_t>(life - 1);
  }
  [[nodiscard]] std::size_t place_of_handle(int handle) const {
    return handles_ + static_cast<std::size_t>(handle);
  }
  [[nodiscard]] const operation* noted(std::size_t place, std::span<const key_operation> all) const;
  void note(std::size_t place, const key_operation& o, std::span<const key_operation> all);
  [[nodiscard]] const operation* end_of(int life, std::span<const key_operation> all) const {
    return noted(bits_of(life) + 1, all);
  }
  [[nodiscard]] const operation* drop_of(int life, std::span<const key_operation> all) const {
    return noted(bits_of(life) + 3, all);
  }
  [[nodiscard]] bool may_be_named(int name, const key_operation& o, std::span<const key_operation> all) const;
  [[nodiscard]] bool may_be_free(int name, const key_operation& o, std::span<const key_operation> all) const;
  [[nodiscard]] bool may_use(int life, const key_operation& o, std::span<const key_operation> all,
                             const exceptions& allowed) const;
  [[nodiscard]] bool judge(const key_operation& o, int life);

  std::size_t handles_;
  std::size_t events_;
  std::string bytes_;
};

}  // namespace everseen::test::history
