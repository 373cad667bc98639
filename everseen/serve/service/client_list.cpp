#include "everseen/serve/service/client_list.hpp"

#include <utility>

#include <fmt/format.h>

#include "everseen/serve/base/command.hpp"

namespace everseen::serve {

void client::set_name(std::string name) {
  const std::scoped_lock alone(lock_);
  name_ = std::move(name);
}

std::string client::name() const {
  const std::scoped_lock alone(lock_);
  return name_;
}

void client::set_user(std::string name) {
  const std::scoped_lock alone(lock_);
  user_ = std::move(name);
}

std::string client::user() const {
  const std::scoped_lock alone(lock_);
  return user_;
}

void client::set_library(library_word which, std::string text) {
  const std::scoped_lock alone(lock_);
  library_[static_cast<std::size_t>(which)] = std::move(text);
}

std::string client::library(library_word which) const {
  const std::scoped_lock alone(lock_);
  return library_[static_cast<std::size_t>(which)];
}

void client_list::add(const std::shared_ptr<client>& c) {
  const std::scoped_lock alone(lock_);
  c->id = ++last_id_;
  by_id_.emplace(c->id, c);
}

void client_list::remove(std::uint64_t id) {
  const std::scoped_lock alone(lock_);
  by_id_.erase(id);
}

std::vector<std::shared_ptr<client>> client_list::all() const {
  const std::scoped_lock alone(lock_);
  std::vector<std::shared_ptr<client>> clients;
  for (const auto& [id, each] : by_id_) clients.push_back(each);
  return clients;
}

std::size_t client_list::size() const {
  const std::scoped_lock alone(lock_);
  return by_id_.size();
}

std::string describe(const client& c, std::int64_t now_ms) {
  const int queued = c.queued;
  const std::string last = lower(c.last_command.load());
  // All fields of Redis up to 8.0, as clients look for each. Memory is not counted by client, and there are
  // no channels and no threads of its own for a client.
  return fmt::format(
      "id={} addr={} laddr={} fd=-1 name={} age={} idle={} flags={} db=0 sub=0 psub=0 ssub=0 multi={} "
      "watch=0 qbuf=0 "
      "qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd={} user={} "
      "redir=-1 resp={} lib-name={} lib-ver={} io-thread=0",
      c.id, c.address, c.local_address, c.name(), (now_ms - c.since_ms) / 1000,
      (now_ms - c.last_request_ms) / 1000, queued < 0 ? "N" : "x", queued, last.empty() ? "NULL" : last,
      c.user(), c.protocol.load(), c.library(client::library_word::name),
      c.library(client::library_word::version));
}

}  // namespace everseen::serve
