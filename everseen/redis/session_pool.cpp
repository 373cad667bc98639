#include <mutex>
#include <utility>

#include "everseen/redis/session.hpp"

namespace everseen::redis {

class session_pool::impl {
 public:
  explicit impl(redis_url u) : url(std::move(u)) { idle.push_back(std::make_unique<session>(url)); }

  const redis_url url;
  std::mutex mutex{};
  std::vector<std::unique_ptr<session>>
      idle{};  // the one used last is the likeliest to be connected: at the end
};

session_pool::session_pool(redis_url url) : impl_(std::make_unique<impl>(std::move(url))) {}
session_pool::~session_pool() = default;

session_pool::lease session_pool::take() {
  {
    const std::lock_guard lock(impl_->mutex);
    if (!impl_->idle.empty()) {
      auto taken = std::move(impl_->idle.back());
      impl_->idle.pop_back();
      return {*this, std::move(taken)};
    }
  }
  return {*this, std::make_unique<session>(impl_->url)};
}

session_pool::lease::~lease() {
  pool_.give_back(std::move(session_));
}

void session_pool::give_back(std::unique_ptr<session> s) {
  const std::lock_guard lock(impl_->mutex);
  impl_->idle.push_back(std::move(s));
}

const redis_url& session_pool::url() const noexcept {
  return impl_->url;
}

}  // namespace everseen::redis
