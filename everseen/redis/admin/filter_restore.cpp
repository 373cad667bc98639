#include "everseen/redis/admin/filter_restore.hpp"

#include <utility>

namespace everseen::redis {

filter_restore::filter_restore(std::shared_ptr<session_pool> pool, const filter_directory& into,
                               std::string_view name, const spec& s)
    : pool_(std::move(pool)), into_(into), name_(name), draft_(pool_, into, s) {
  validate(s);
  validate_filter_name(name);
  if (into_.has(*pool_->take(), name)) throw filter_exists(name);
}

void filter_restore::commit() {
  const auto& states = draft_.finish();
  const session_pool::lease with = pool_->take();
  into_.prepare(*with, draft_.identity(), states, {.spec = draft_.identity().spec});
  into_.publish(*with, name_, draft_.identity());
}

}  // namespace everseen::redis
