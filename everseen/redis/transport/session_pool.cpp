#include <mutex>
#include <new>
#include <utility>

#include "everseen/redis/transport/session.hpp"

namespace everseen::redis {

class session_pool::impl {
 public:
  explicit impl(redis_url u) : url(std::move(u)) { idle.push_back(std::make_unique<session>(url)); }

  const redis_url url;
  std::mutex mutex{};
  std::vector<std::unique_ptr<session>>
      idle{};  // the one used last is the likeliest to be connected: at the end
  std::shared_ptr<everseen::patience> waiting{};

  std::unique_ptr<session> take_idle() {
    if (idle.empty()) return nullptr;
    auto taken = std::move(idle.back());
    idle.pop_back();
    return taken;
  }
};

session_pool::session_pool(redis_url url) : impl_(std::make_unique<impl>(std::move(url))) {}
session_pool::~session_pool() = default;

session_pool::lease session_pool::take() {
  std::unique_ptr<session> taken;
  std::shared_ptr<patience> waiting;
  {
    const std::lock_guard lock(impl_->mutex);
    taken = impl_->take_idle();
    waiting = impl_->waiting;
  }
  if (!taken) taken = std::make_unique<session>(impl_->url);
  taken->wait_with(std::move(waiting));
  return {*this, std::move(taken)};
}

session_pool::lease::~lease() {
  pool_.give_back(std::move(session_));
}

void session_pool::give_back(std::unique_ptr<session> s) {
  const std::lock_guard lock(impl_->mutex);
  try {
    impl_->idle.push_back(std::move(s));
  } catch (const std::bad_alloc&) {  // then it goes; another one can be made
  }
}

void session_pool::wait_with(std::shared_ptr<patience> p) {
  const std::lock_guard lock(impl_->mutex);
  impl_->waiting = std::move(p);
}

const redis_url& session_pool::url() const noexcept {
  return impl_->url;
}

}  // namespace everseen::redis
