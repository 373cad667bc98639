#include "everseen/redis/transaction.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "everseen/redis/fence.hpp"

namespace everseen::redis {

namespace {

using kind = meaning::kind;

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, 20> text{};
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr);
}

void append_word(std::string& out, std::string_view word) {
  out += '$';
  append_number(out, word.size());
  out.append("\r\n").append(word).append("\r\n");
}

void append_number_word(std::string& out, std::uint64_t number) {
  std::array<char, 20> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  append_word(out, {text.data(), static_cast<std::size_t>(end - text.data())});
}

/// @param before  commands before MULTI
meaning read_exec(const answer& a, std::size_t before, reply& result) {
  if (!a) return {kind::lost, a.error().message};
  result = a->back();
  if (result.is_nil()) return {kind::stale};
  if (result.is_error()) {
    // The first error is the cause: the last is EXECABORT.
    const auto cause = std::ranges::find_if(*a, [](const reply& r) { return r.is_error(); });
    return {kind::refused, std::string(cause->text())};
  }
  if (before + 2 + result.size() != a->size())
    return {kind::refused, "a transaction was not answered in full"};
  return {};
}

}  // namespace

transaction::transaction(const std::string& fence_key, std::uint64_t epoch)
    : wire_(fence::guard(fence_key, epoch)), commands_(fence::guard_commands) {
  command({"MULTI"});
  command({"GET", fence_key});
}

void transaction::begin(std::size_t words) {
  ++commands_;
  wire_ += '*';
  append_number(wire_, words);
  wire_ += "\r\n";
}

void transaction::command(std::initializer_list<std::string_view> words) {
  begin(words.size());
  for (const std::string_view word : words) append_word(wire_, word);
}

// Not by hiredis's formatter: these words are most of what is sent, and three of four are always the same.
void transaction::bits(std::string_view name, std::string_view before, std::string_view after,
                       const std::string& segment, const geometry& shape, std::span<const digest> digests,
                       std::span<const std::size_t> keys) {
  std::array<std::uint64_t, max_probes> positions{};
  const std::size_t words_a_bit = after.empty() ? 3 : 4;
  for (std::size_t from = 0; from < keys.size(); from += keys_a_command) {
    const auto some = keys.subspan(from, std::min(keys_a_command, keys.size() - from));
    begin(2 + some.size() * shape.probes * words_a_bit);
    append_word(wire_, name);
    append_word(wire_, segment);
    for (const std::size_t key : some) {
      const std::size_t count = bit_positions(shape, digests[key], positions);
      for (std::size_t i = 0; i < count; ++i) {
        wire_ += before;
        append_number_word(wire_, positions[i]);
        wire_ += after;
      }
    }
  }
}

void transaction::get_bits(std::string_view name, const std::string& segment, const geometry& shape,
                           std::span<const digest> digests, std::span<const std::size_t> keys) {
  bits(name, "$3\r\nGET\r\n$2\r\nu1\r\n", "", segment, shape, digests, keys);
}

void transaction::set_bits(const std::string& segment, const geometry& shape, std::span<const digest> digests,
                           std::span<const std::size_t> keys) {
  bits("BITFIELD", "$3\r\nSET\r\n$2\r\nu1\r\n", "$1\r\n1\r\n", segment, shape, digests, keys);
}

request transaction::finish(route to, bool repeatable) {
  command({"EXEC"});
  return {std::move(to), std::move(wire_), commands_, repeatable};
}

meaning transaction::read(const answer& a, reply& result) {
  return read_exec(a, 0, result);
}

meaning transaction::read(const answer& a, std::uint64_t epoch, reply& result) {
  const meaning o = read_exec(a, fence::guard_commands, result);
  if (o.what != kind::done || result[0].text() == fence::bytes_of(epoch)) return o;
  return {kind::lost, "the partition changed while it was written to; nobody knows which keys were added"};
}

}  // namespace everseen::redis
