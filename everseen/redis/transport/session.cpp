#include "everseen/redis/transport/session.hpp"

#include <system_error>

#include <boost/system/system_error.hpp>

#include "everseen/core/error.hpp"
#include "everseen/redis/transport/dispatcher.hpp"
#include "everseen/redis/wire/random_name.hpp"

namespace everseen::redis {

namespace {

/// What the system refuses, descriptors mostly, is an error of everseen: callers expect no other.
template <typename Work>
auto as_our_error(Work work) {
  try {
    return work();
  } catch (const boost::system::system_error& e) {
    const bool has_too_many_files =
        e.code() == std::errc::too_many_files_open || e.code() == std::errc::too_many_files_open_in_system;
    throw storage_error(
        std::string("the system refuses what a connection to Redis needs: ") + e.what() +
            (has_too_many_files ? "; raise the limit of open files, or use fewer connections" : ""),
        e.code().value(), {});
  }
}

}  // namespace

class session::impl : public dispatcher {
 public:
  explicit impl(const redis_url& url) : dispatcher(url) {}
};

session::session(const redis_url& url)
    : impl_(as_our_error([&] { return std::make_unique<impl>(url); })), name_(random_name()) {}
session::~session() = default;

std::vector<answer> session::exchange(std::span<const request> requests) {
  return as_our_error([&] { return impl_->run(requests); });
}

std::vector<answer> session::exchange_with_all(const std::string& wire, bool repeatable) {
  return as_our_error([&] {
    return impl_->run_on_masters({{}, wire, split_commands(wire).size(), repeatable});
  });
}

reply session::ask(const route& to, std::initializer_list<std::string_view> words, bool repeatable) {
  const request r{to, encode(words), 1, repeatable};
  auto answers = exchange(std::span(&r, 1));
  if (!answers.front()) throw backend_error(answers.front().error().message);
  reply& answered = answers.front()->front();
  if (answered.is_error())
    throw backend_error("redis at " + to_string(server_of(to)) + ": " + std::string(answered.text()));
  return std::move(answered);
}

void session::wait_with(std::shared_ptr<patience> p) noexcept {
  impl_->wait_with(std::move(p));
}

std::uint64_t session::lost_answers() const noexcept {
  return impl_->lost_answers();
}

endpoint session::server_of(const route& to) {
  auto found = as_our_error([&] { return impl_->server_of(to); });
  if (!found) throw backend_error(found.error().message);
  return *std::move(found);
}

}  // namespace everseen::redis
