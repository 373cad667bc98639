// Any bytes from a client to a whole session over filters in memory: no crash, and the same replies for
// every way of splitting the bytes, although the batches differ.
//
// Decodes: everseen/serve/own/asked_keys.cpp, everseen/serve/commands/glob.cpp

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <string_view>

#include "everseen/open_store.hpp"
#include "everseen/serve/resp/session.hpp"

namespace {

using namespace everseen::serve;

/// All replies of a new server to bytes that arrive in pieces.
std::string answers(std::string_view bytes, std::size_t piece) {
  options o;
  o.threads = 1;
  o.store_threads = 1;
  o.max_memory_bytes = 1 << 20;
  o.request = {.arguments = 64, .argument_bytes = 1 << 10, .request_bytes = 4 << 10, .inline_bytes = 256};
  service all(o, everseen::open_store("mem:"));
  auto who = std::make_shared<client>();
  all.clients().add(who);
  std::promise<void> woken;
  session s(all, who, [&] { woken.set_value(); });
  std::string out;
  std::size_t used = 0;
  for (std::size_t come = 0; come < bytes.size();) {
    come = std::min(bytes.size(), come + piece);
    for (;;) {
      const session::progress p = s.run(bytes.substr(used, come - used));
      used += p.used;
      if (p.outcome == session::state::suspended) {
        woken.get_future().wait();
        woken = {};
        s.take_back();
        continue;
      }
      out += std::exchange(s.output(), {});
      if (p.outcome == session::state::ending) return out;
      if (p.outcome == session::state::wants_bytes) break;
    }
  }
  return out;
}

/// Excludes requests whose replies depend on the time or on how they arrived.
bool is_repeatable(std::string_view bytes) {
  for (const std::string_view word : {"INFO", "TIME", "CLIENT", "TTL", "EXPIRE", "SAVE", "WINDOW", "PX"})
    if (std::search(bytes.begin(), bytes.end(), word.begin(), word.end(), [](char a, char b) {
          return (a >= 'a' && a <= 'z' ? a - 'a' + 'A' : a) == b;
        }) != bytes.end())
      return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size == 0 || size > 1 << 14) return 0;
  const std::string whole = answers(bytes, size);
  // False positives depend on a filter's secret seed, so only the lengths of replies can be compared.
  if (is_repeatable(bytes) && answers(bytes, 7).size() != whole.size()) std::abort();
  return 0;
}
