#include "everseen/store/file/file_rebuild.hpp"

#include "everseen/store/file/file_filter.hpp"

namespace everseen {

file_rebuild::file_rebuild(disk& on, std::filesystem::path store_directory, std::string_view name,
                           lock_file lock, sync_policy policy, const spec& s, time_source now)
    : disk_(on),
      store_(std::move(store_directory)),
      name_(name),
      lock_(std::move(lock)),
      staged_(on, store_) {
  image::manifest empty;
  empty.filter = image::random_filter_id();
  empty.spec = s;
  empty.clean = true;
  target_ =
      std::make_shared<file_writer>(on, staged_.directory(), staged_.open(empty), policy, std::move(now));
}

file_rebuild::~file_rebuild() = default;

std::shared_ptr<stored_filter> file_rebuild::target() {
  return target_;
}

void file_rebuild::merge(const segment_id& /*id*/, std::span<const std::byte> /*bits*/) {
  throw parameter_error("a filter in files cannot be rebuilt from a copy; drop it and import the copy");
}

void file_rebuild::commit() {
  target_->sync();
  staged_.take_place_of(name_, [this] { target_.reset(); });
}

}  // namespace everseen
