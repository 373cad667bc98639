#include "everseen/cli/planning/server_watch.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "everseen/cli/verb/stores.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/redis/server_check.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::cli {

namespace {

double field_of(std::string_view info, std::string_view name) {
  const std::string_view text = redis::info_field(info, name).value_or("");
  double value = 0;
  if (const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
      read.ec != std::errc())
    throw backend_error(fmt::format("a server's INFO has no {}, so nothing can be measured there", name));
  return value;
}

}  // namespace

server_watch::server_watch(const std::string& url) : session_(redis::parse_redis_url(url)) {
  session_.wait_with(std::make_shared<store_wait>(std::nullopt));
  const server_use before = look();
  cost_of_a_look_ = look() - before;
}

server_use server_watch::now() {
  const server_use all = look(), one = cost_of_a_look_;
  ++looks_;
  return all - server_use{one.cpu_us * looks_, one.in_bytes * looks_, one.out_bytes * looks_};
}

double server_watch::round_trip_us() {
  constexpr int times = 101;
  std::vector<double> all;
  for (int i = 0; i < times; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    (void)ask_all(redis::encode({"PING"}));
    all.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ranges::nth_element(all, all.begin() + times / 2);
  return all[times / 2];
}

std::vector<std::vector<redis::reply>> server_watch::ask_all(const std::string& wire) {
  std::vector<std::vector<redis::reply>> all;
  for (redis::answer& a : session_.exchange_with_all(wire)) {
    if (!a) throw backend_error(a.error().message);
    for (const redis::reply& r : *a)
      if (r.is_error()) throw backend_error(fmt::format("a server refuses INFO or PING: {}", r.text()));
    all.push_back(*std::move(a));
  }
  return all;
}

server_use server_watch::look() {
  server_use sum;
  for (const auto& message : ask_all(redis::encode({"INFO", "cpu"}) + redis::encode({"INFO", "stats"}))) {
    const std::string_view cpu = message[0].text(), stats = message[1].text();
    sum.cpu_us += 1e6 * (field_of(cpu, "used_cpu_user") + field_of(cpu, "used_cpu_sys"));
    sum.in_bytes += field_of(stats, "total_net_input_bytes");
    sum.out_bytes += field_of(stats, "total_net_output_bytes");
  }
  return sum;
}

}  // namespace everseen::cli
