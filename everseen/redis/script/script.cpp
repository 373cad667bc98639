#include "everseen/redis/script/script.hpp"

#include <array>
#include <utility>
#include <vector>

#include <openssl/sha.h>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/format/redis_keys.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

/// The first two words of a call, encoded as they follow the number of words.
std::string beginning(std::string_view command, std::string_view which) {
  const std::string encoded = encode({command, which});
  return encoded.substr(encoded.find('$'));
}

}  // namespace

script make_script(std::string text) {
  std::array<unsigned char, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return {std::move(text), hex_of(digest)};
}

script make_remembered_script(std::string_view body) {
  static_assert(partition_keys::sequence_bytes == 20);
  return make_script(joined({"local function outcome()\n", body, R"(
end
local token, call = KEYS[#KEYS], ARGV[#ARGV - 1]
local told = redis.call('GET', token) or ''
local last = string.sub(told, 1, 20)
if last > call then return '-' end
if last < call then
  told = call .. outcome()
  redis.call('SET', token, told, 'PX', ARGV[#ARGV])
end
return string.sub(told, 21)
)"}));
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all += part;
  return all;
}

std::string encode_call(const script& s, std::span<const std::string> keys,
                        std::span<const std::string> arguments) {
  const std::string count = std::to_string(keys.size());
  std::vector<std::string_view> words = {"EVALSHA", s.sha1, count};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  return encode(words);
}

std::string with_text(std::string_view wire, const script& s) {
  const std::string by_name = beginning("EVALSHA", s.sha1);
  std::string all;
  for (const std::string_view command : split_commands(wire)) {
    const std::size_t words = command.find('$');
    if (!command.substr(words).starts_with(by_name)) {
      all += command;
      continue;
    }
    const auto calls = static_cast<std::size_t>(command.data() - wire.data()) + words;
    all.append(command.substr(0, words)).append(beginning("EVAL", s.text));
    return all.append(wire.substr(calls + by_name.size()));
  }
  return all;
}

}  // namespace everseen::redis
