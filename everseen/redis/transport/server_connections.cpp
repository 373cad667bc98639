#include "everseen/redis/transport/server_connections.hpp"

#include <new>
#include <system_error>
#include <utility>

#include <boost/system/system_error.hpp>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/script/script.hpp"
#include "everseen/redis/transport/dispatcher.hpp"
#include "everseen/redis/wire/command.hpp"

namespace everseen::redis {

namespace {

/// Converts failures of the system, mostly a lack of descriptors, to an error of everseen: callers expect no
/// others.
template <typename Work>
auto as_our_error(Work work) {
  try {
    return work();
  } catch (const boost::system::system_error& e) {
    const bool has_too_many_files =
        e.code() == std::errc::too_many_files_open || e.code() == std::errc::too_many_files_open_in_system;
    throw storage_error(
        std::string("the system refuses what a connection needs: ") + e.what() +
            (has_too_many_files ? "; raise the limit of open files, or use fewer connections" : ""),
        e.code().value(), {});
  }
}

}  // namespace

server_connections::server_connections(const redis_url& url)
    : dispatcher_(as_our_error([&] { return std::make_unique<dispatcher>(url); })), name_(random_name()) {}
server_connections::~server_connections() = default;

std::vector<answer> server_connections::exchange(std::span<const request> requests) {
  return as_our_error([&] { return dispatcher_->run(requests); });
}

std::vector<answer> server_connections::exchange_with_all(const std::string& wire) {
  return as_our_error([&] {
    return dispatcher_->run_on_masters({{}, wire, split_commands(wire).size(), true});
  });
}

reply server_connections::ask(const route& destination, std::initializer_list<std::string_view> words,
                              bool repeatable) {
  const request r{destination, encode(words), 1, repeatable};
  auto answers = exchange(std::span(&r, 1));
  if (!answers.front()) throw backend_error(answers.front().error().message);
  reply& answered = answers.front()->front();
  if (answered.is_error())
    throw backend_error(name_of_server(dispatcher_->url(), server_of(destination)) + ": " +
                        std::string(answered.text()));
  return std::move(answered);
}

void server_connections::wait_with(std::shared_ptr<retry_policy> p) noexcept {
  dispatcher_->wait_with(std::move(p));
}

std::chrono::milliseconds server_connections::keeps_answers() const noexcept {
  return dispatcher_->keeps_answers();
}

std::uint64_t server_connections::lost_answers() const noexcept {
  return dispatcher_->lost_answers();
}

endpoint server_connections::server_of(const route& destination) {
  auto found = as_our_error([&] { return dispatcher_->server_of(destination); });
  if (!found) throw backend_error(found.error().message);
  return *std::move(found);
}

connection_pool::connection_pool(redis_url url, std::shared_ptr<waiting> shared)
    : url_(std::move(url)), waiting_(std::move(shared)) {
  idle_.push_back(std::make_unique<server_connections>(url_));
}

connection_pool::connection_pool(redis_url url)
    : connection_pool(std::move(url), std::make_shared<waiting>()) {}

connection_pool::connection_pool(redis_url url, const connection_pool& beside)
    : connection_pool(std::move(url), beside.waiting_) {}

connection_pool::lease connection_pool::take() {
  std::unique_ptr<server_connections> taken;
  std::shared_ptr<retry_policy> policy;
  {
    const std::scoped_lock alone(lock_, waiting_->lock);
    policy = waiting_->policy;
    if (!idle_.empty()) {
      taken = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!taken) taken = std::make_unique<server_connections>(url_);
  taken->wait_with(std::move(policy));
  return lease(taken.release(), giving_back{this});
}

void connection_pool::giving_back::operator()(server_connections* s) const noexcept {
  std::unique_ptr<server_connections> free(s);
  const std::scoped_lock alone(pool->lock_);
  try {
    pool->idle_.push_back(std::move(free));
  } catch (const std::bad_alloc&) {  // the connections are closed instead; others can be made
  }
}

std::shared_ptr<retry_policy> connection_pool::wait_with(std::shared_ptr<retry_policy> p) {
  const std::scoped_lock alone(waiting_->lock);
  return std::exchange(waiting_->policy, std::move(p));
}

std::chrono::milliseconds connection_pool::keeps_answers() const {
  const std::scoped_lock alone(waiting_->lock);
  return waiting_->policy && waiting_->policy->may_take_hours() ? answers_kept_in_an_outage : answers_kept;
}

}  // namespace everseen::redis
