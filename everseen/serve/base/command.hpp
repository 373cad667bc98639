#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/commands/request.hpp"
#include "everseen/serve/base/key_batch.hpp"
#include "everseen/serve/base/options.hpp"
#include "everseen/wire/reply_writer.hpp"

namespace everseen::serve {

class session;
class service;

/// The words of a request; the first is the command's name.
using word_list = std::span<const std::string_view>;

/// One call of a command.
struct call {
  service& all;
  session& from;
  word_list words;
  wire::reply_writer& reply;
  const struct command& called;
};

/// An error reply whose text clients know, with its code, as in "ERR not found". Thrown by a command, whose
/// reply is then discarded.
using refusal = commands::refusal;

/// The text of the refusal once the server is being stopped: nothing of the request was run.
inline constexpr std::string_view being_stopped = "LOADING the server is being stopped";

/// How the verdicts of a request become a reply.
enum class reply_shape : std::uint8_t {
  one,    ///< true or false
  array,  ///< true or false for each key
  words,  ///< fresh, seen or late for each key
};

/// Keys of a request that may share a batch with those of other requests.
struct batched_keys {
  question asks = question::check;
  reply_shape shape = reply_shape::one;
  word_list keys;
};

/// The thread on which a command runs.
enum class runs : std::uint8_t {
  at_once,    ///< the connection's: it waits for nothing
  on_worker,  ///< another, which may wait for the store
  aside,      ///< another, which never waits long for the store; only for the HTTP interface
};

/// One command of the protocol, as data: what COMMAND reports is what is enforced.
///
/// A command that consists of two words, such as CLIENT LIST, is a subcommand. Its words, arity and positions
/// of keys count from the first of the two.
struct command {
  std::string_view name;  ///< in capitals; of a subcommand both words, with a bar between them: CLIENT|LIST
  /// The number of words, including the name; negative: at least that many.
  int arity = 0;
  right needs = right::read;
  runs place = runs::at_once;
  /// The positions of the keys among the words: the first, the last (negative: from the end), and the step.
  /// 0: none.
  struct key_positions {
    int first = 0;
    int last = 0;
    int step = 0;
  } keys{};
  void (*run)(call&) = nullptr;
  /// The keys of a request that may be batched; empty if the request must run by itself. Null: never.
  std::optional<batched_keys> (*batched)(word_list) = nullptr;
  bool in_transaction_at_once = false;  ///< not queued after MULTI
  std::span<const command> subcommands{};

  [[nodiscard]] bool takes(std::size_t count) const noexcept {
    return arity >= 0 ? count == static_cast<std::size_t>(arity) : count >= static_cast<std::size_t>(-arity);
  }
};

inline constexpr command::key_positions no_keys{};
inline constexpr command::key_positions first_word{1, 1, 1};
inline constexpr command::key_positions every_word{1, -1, 1};

/// Every command, in order of name.
[[nodiscard]] std::span<const command> all_commands();

/// The command of this name in any case, or null. A subcommand has its full name, with the bar.
[[nodiscard]] const command* find_command(std::string_view name);

/// The command of a request; of one with subcommands, the one that is asked for.
/// @throws refusal  unknown    @pre there is a word
[[nodiscard]] const command& command_of(word_list request);

/// In small letters.
[[nodiscard]] std::string lower(std::string_view name);

/// Whether two words are equal, ignoring case.
[[nodiscard]] bool is_word(std::string_view word, std::string_view capitals) noexcept;

/// Redis's reply to a request with too few or too many words.
[[nodiscard]] refusal wrong_arity(std::string_view name);
/// Redis's reply to a word that the command does not have.
[[nodiscard]] refusal syntax_error();

// The commands by family; each file defines the family of its name, command_table.cpp that of COMMAND.
[[nodiscard]] std::span<const command> bloom_commands();
[[nodiscard]] std::span<const command> everseen_commands();
[[nodiscard]] std::span<const command> store_commands();
[[nodiscard]] std::span<const command> key_commands();
[[nodiscard]] std::span<const command> expiry_commands();
[[nodiscard]] std::span<const command> connection_commands();
[[nodiscard]] std::span<const command> transaction_commands();
[[nodiscard]] std::span<const command> server_commands();
[[nodiscard]] std::span<const command> command_commands();

/// A whole number, all of the word. Other numbers: everseen/core/base/digits.hpp.
[[nodiscard]] inline std::optional<std::int64_t> read_integer(std::string_view word) noexcept {
  return read_number<std::int64_t>(word);
}

}  // namespace everseen::serve
