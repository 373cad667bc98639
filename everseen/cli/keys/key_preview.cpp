#include "everseen/cli/keys/key_preview.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "everseen/cli/terminal/printer.hpp"
#include "everseen/store/disk/disk.hpp"

namespace everseen::cli {

namespace {

descriptor temporary_file() {
  std::error_code none;
  std::filesystem::path directory = std::filesystem::temp_directory_path(none);
  if (none) directory = "/tmp";
  std::string path = directory / "everseen.XXXXXX";
  descriptor made(::mkostemp(path.data(), O_CLOEXEC));
  if (!made) throw disk_error("create", path, errno);
  check_disk(::unlink(path.c_str()) == 0 ? 0 : errno, "remove", path);
  return made;
}

}  // namespace

key_preview::key_preview(const std::vector<std::string>& arguments, char separator)
    : source_(arguments, {.zero = separator == '\0'}), separator_(separator) {}

std::uint64_t key_preview::count(std::uint64_t enough) {
  if (enough == 0) return 0;
  if (!source_.can_rewind()) return keep(enough);
  std::uint64_t counted = 0;
  std::vector<std::string_view> keys;
  while (counted < enough && source_.next(keys)) counted += keys.size();
  source_.rewind();
  return counted;
}

std::uint64_t key_preview::keep(std::uint64_t enough) {
  kept_ = temporary_file();
  printer copy(kept_.get(), "a temporary file");
  std::uint64_t counted = 0;
  std::vector<std::string_view> keys;
  while (counted < enough && !ended_) {
    ended_ = !source_.next(keys);
    counted += keys.size();
    for (const std::string_view key : keys) {
      copy.write(key);
      copy.write({&separator_, 1});
    }
  }
  copy.flush();
  again_.emplace("/proc/self/fd/" + std::to_string(kept_.get()), record_options{.zero = separator_ == '\0'});
  return counted;
}

bool key_preview::next(std::vector<std::string_view>& keys) {
  before_ += std::exchange(last_, 0);
  const bool any = next_of_both(keys);
  last_ = any ? keys.size() : 0;
  return any;
}

bool key_preview::next_of_both(std::vector<std::string_view>& keys) {
  if (again_ && again_->next(keys)) return true;
  again_.reset();
  // At a terminal, a call after the end would read more input.
  return !ended_ && source_.next(keys);
}

}  // namespace everseen::cli
