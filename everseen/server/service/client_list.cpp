#include "everseen/server/service/client_list.hpp"

#include <utility>

#include <fmt/format.h>

namespace everseen::server {

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
  return fmt::format("id={} addr={} laddr={} name={} age={} idle={} db={} cmd={} user={}", c.id, c.address,
                     c.local_address, c.name(), (now_ms - c.since_ms) / 1000,
                     (now_ms - c.last_request_ms) / 1000, c.database.load(), c.last_command.load(), c.user());
}

}  // namespace everseen::server
