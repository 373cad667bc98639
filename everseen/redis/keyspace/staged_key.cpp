#include "everseen/redis/keyspace/staged_key.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "everseen/redis/keyspace/asking.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

// Pieces go to the staged key by commands of their own, as a script would hash every byte of them.

namespace {

bool is_zero(std::string_view piece) noexcept {
  return piece.find_first_not_of('\0') == std::string_view::npos;
}

/// The first piece to arrive creates the key with a time limit, so pieces may arrive in any order, repeatedly
/// or late.
request piece_of(const staged_key& k, std::uint64_t from, std::string_view bytes) {
  constexpr std::size_t around_the_bytes = 1024;
  request r{k.place, {}, 2, true};
  r.wire.reserve(bytes.size() + around_the_bytes);
  r.wire = encode({"SET", k.name, "", "PX", k.life_ms, "NX"});
  append_command(r.wire, std::array<std::string_view, 4>{"SETRANGE", k.name, std::to_string(from), bytes});
  mark_piece(r, k, from / piece_bytes);
  return r;
}

}  // namespace

void mark_piece(request& piece, const staged_key& k, std::size_t number) {
  piece.wire += encode({"SET", k.bitmap(), "", "PX", k.life_ms, "NX"});
  piece.wire += encode({"SETBIT", k.bitmap(), std::to_string(number), "1"});
  piece.commands += 2;
}

std::size_t write_string(server_connections& connections, const staged_key& k, std::string_view bytes) {
  if (bytes.size() <= piece_bytes) {
    (void)exchange_all(connections, {{k.place, encode({"SET", k.name, bytes, "PX", k.life_ms}), 1, true}});
    return 0;
  }
  // A string that is made longer gets more memory than it needs: up to a MiB, or as much again.
  (void)run_script(connections,
                   {&staging_scripts::create(),
                    k.place,
                    {k.name},
                    {k.life_ms, "SETRANGE", std::to_string(bytes.size() - 1), std::string(1, '\0')}});
  std::size_t written = 0;
  std::vector<request> pieces;
  // From the last one: if the server removes the key in between, what follows makes a shorter string.
  for (std::uint64_t end = bytes.size(); end > 0;) {
    const std::uint64_t from = (end - 1) / piece_bytes * piece_bytes;
    const std::string_view piece = bytes.substr(from, end - from);
    if (!is_zero(piece)) {
      pieces.push_back(piece_of(k, from, piece));
      ++written;
    }
    end = from;
    if (pieces.size() == requests_at_once || end == 0)
      (void)exchange_all(connections, std::exchange(pieces, {}));
  }
  return written;
}

namespace {

script_call use_of(const staged_key& k, std::size_t pieces, const std::string& key_in_use,
                   std::size_t bytes) {
  return {&staging_scripts::put_in_use(),
          k.place,
          {k.name, k.bitmap(), key_in_use},
          {std::to_string(pieces), std::to_string(bytes), k.life_ms}};
}

}  // namespace

bool put_in_use(server_connections& connections, const staged_key& k, std::size_t pieces,
                const std::string& key_in_use) {
  return run_script(connections, use_of(k, pieces, key_in_use, 0)).integer() == 1;
}

bool store_string(server_connections& connections, const staged_key& k, std::string_view bytes,
                  const std::string& key_in_use) {
  if (bytes.size() > piece_bytes) {
    const std::size_t pieces = write_string(connections, k, bytes);
    return run_script(connections, use_of(k, pieces, key_in_use, bytes.size())).integer() == 1;
  }
  script_call both = use_of(k, 0, key_in_use, bytes.size());
  std::string set;
  begin_command(set, 5);
  append_word(set, "SET");
  append_word(set, k.name);
  begin_word(set, bytes.size());
  const std::size_t begin = set.size();
  set += bytes;
  end_word(set);
  append_word(set, "PX");
  append_word(set, k.life_ms);
  both.staged = {k.name, std::move(set), begin, bytes.size()};
  return run_script(connections, std::move(both)).integer() == 1;
}

}  // namespace everseen::redis

namespace everseen::redis::staging_scripts {

const script& create() {
  static const script s = make_script(R"(
if redis.call('EXISTS', KEYS[1]) == 1 then return 1 end
for k = 2, #KEYS do
  if redis.call('PEXPIRE', KEYS[k], ARGV[1]) == 0 then return 0 end
end
redis.call(ARGV[2], KEYS[1], unpack(ARGV, 3))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
)");
  return s;
}

const script& prolong() {
  static const script s = make_script(R"(
local left = redis.call('PTTL', KEYS[1])
if left >= 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return left == -2 and 0 or 1
)");
  return s;
}

const script& put_in_use() {
  static const script s = make_script(R"(
local call, staged, pieces = redis.call, KEYS[1], KEYS[2]
local is_there = call('EXISTS', KEYS[3]) == 1
local is_whole = call('EXISTS', staged) == 1 and call('BITCOUNT', pieces) == tonumber(ARGV[1])
  and (ARGV[2] == '0' or call('STRLEN', staged) == tonumber(ARGV[2]))
call('UNLINK', pieces)
if is_there or not is_whole then
  call('UNLINK', staged)
  return is_there and 1 or 0
end
call('PEXPIRE', staged, ARGV[3])
call('RENAME', staged, KEYS[3])
return 1
)");
  return s;
}

}  // namespace everseen::redis::staging_scripts
