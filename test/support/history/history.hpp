// What several clients did with the filters of a store, and what they were told: the input of the checker.

#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <limits>
#include <string>
#include <vector>

#include "everseen/core/base/verdict.hpp"

namespace everseen::test::history {

/// Nanoseconds of the steady clock, which all processes of a machine share.
using moment = std::int64_t;
inline constexpr moment never = std::numeric_limits<moment>::max();

enum class action : std::uint8_t {
  open,    ///< makes a handle
  create,  ///< makes a filter and a handle
  drop,
  rename,  ///< refused if the new name is taken
  reset,
  expire,  ///< sets or removes the end of a filter
  add,
  check,
  claim,    ///< adds the keys of events, and records their verdicts
  begin,    ///< a rebuild, of a handle of its own
  give,     ///< keys to a rebuild, which need no verdict
  commit,   ///< a rebuild: all other keys that were added before it began are forgotten
  replace,  ///< begin, give and commit in one step
};

enum class outcome : std::uint8_t {
  done,
  absent,   ///< there is no filter of this name
  taken,    ///< there is a filter of this name
  refused,  ///< nothing was done, and the reason is none of the above
  lost,     ///< it happens between call and back, or never
};

/// A key of a batch, with its verdict.
struct asked_key {
  int key = 0;
  verdict answer = verdict::unknown;
  int event = -1;  ///< of a claim: its number among all events of the history
  bool claimed_before = false;
};

/// Names, clients and handles are numbers. A handle has the number of the operation that made it.
struct operation {
  std::int64_t number = 0;
  int client = 0;
  action kind = action::add;
  moment call = 0;
  moment back = never;  ///< of a lost one: never, except where a contradiction is made smaller
  int name = 0;
  int other_name = 0;       ///< rename
  std::int64_t handle = 0;  ///< add, check, claim, give, commit
  moment end = never;       ///< expire: of the filter; never removes it
  outcome ended = outcome::lost;
  std::vector<asked_key> keys{};
};

using record = std::vector<operation>;

/// A file that clients in several processes append to. What a client has written survives its death, so an
/// operation without an end was cut off. Threads: any.
class log_file {
 public:
  explicit log_file(const std::filesystem::path& path);
  ~log_file();
  log_file(const log_file&) = delete;
  log_file& operator=(const log_file&) = delete;

  void called(const operation& o) const;
  void returned(const operation& o) const;

 private:
  int fd_;
};

/// All operations of a log, by the time of their calls.    @throws std::runtime_error  it is damaged
[[nodiscard]] record read_log(const std::filesystem::path& path);

/// One line for people: times in milliseconds since `origin`.
[[nodiscard]] std::string to_text(const operation& o, moment origin);

}  // namespace everseen::test::history
