#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "everseen/core/digest.hpp"
#include "everseen/core/layout.hpp"
#include "everseen/redis/gear.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

/// The wire of a MULTI ... EXEC, written command by command, and what its answer says.
class transaction {
 public:
  /// One that only reads: it sees everything at one moment.
  transaction() { command({"MULTI"}); }
  /// One that does nothing in another epoch of the partition.
  transaction(const std::string& fence_key, std::uint64_t epoch);

  void command(std::initializer_list<std::string_view> words);

  /// The bits of keys: one BITFIELD for each `keys_a_command` of them.
  /// @param name  BITFIELD, or BITFIELD_RO to read
  /// @param keys  indexes into digests
  void get_bits(std::string_view name, const std::string& segment, const geometry& shape,
                std::span<const digest> digests, std::span<const std::size_t> keys);
  void set_bits(const std::string& segment, const geometry& shape, std::span<const digest> digests,
                std::span<const std::size_t> keys);

  [[nodiscard]] request finish(route to, bool repeatable);

  /// What EXEC answered; `done` if every command was run, which does not mean that none gave an error.
  /// @param result  the replies to command() and *_bits(), in their order
  [[nodiscard]] static meaning read(const answer& a, reply& result);
  /// The same of one that was guarded.
  /// @param epoch   that it was planned for
  /// @param result  begins with a reply more, the fence; the others follow, from first_reply on
  [[nodiscard]] static meaning read(const answer& a, std::uint64_t epoch, reply& result);
  static constexpr std::size_t first_reply = 1;

  /// Keys whose bits one command asks about: enough that the command itself costs nothing, few enough that
  /// its operations stay in the server's cache.
  static constexpr std::size_t keys_a_command = 64;

 private:
  void begin(std::size_t words);
  void bits(std::string_view name, std::string_view before, std::string_view after,
            const std::string& segment, const geometry& shape, std::span<const digest> digests,
            std::span<const std::size_t> keys);

  std::string wire_{};
  std::size_t commands_ = 0;
};

/// Reads what get_bits() or set_bits() were answered: the bits as they were before, key after key.
class old_bits {
 public:
  /// @param at  where in the result of the transaction its replies begin
  old_bits(const reply& result, std::size_t at, unsigned probes)
      : result_(result), at_(at), probes_(probes) {}

  /// Whether all bits of the next key were set.
  bool next_is_set() {
    if (key_ == 0) now_ = result_[at_++];
    unsigned set = 0;
    for (unsigned i = 0; i < probes_; ++i) set += now_[key_ * probes_ + i].integer() == 1;
    if (++key_ == transaction::keys_a_command) key_ = 0;
    return set == probes_;
  }

  /// How many commands ask about so many keys.
  static std::size_t commands(std::size_t keys) {
    return (keys + transaction::keys_a_command - 1) / transaction::keys_a_command;
  }

 private:
  const reply& result_;
  std::size_t at_;
  unsigned probes_;
  std::size_t key_ = 0;
  reply now_{};
};

}  // namespace everseen::redis
