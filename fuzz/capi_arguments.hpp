#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "everseen/capi/everseen.h"

#include "fuzz/fuzz_input.hpp"

namespace everseen {

/// Arguments of the C interface, made of the bytes of a fuzzer: often valid, often nearly so.
class capi_arguments {
 public:
  explicit capi_arguments(fuzz_input from) : from_(from) {}

  /// A directory of this process alone, empty for each input.
  static const std::string& directory() {
    static const std::string path =
        (std::filesystem::temp_directory_path() / ("everseen-capi-fuzz-" + std::to_string(::getpid())))
            .string();
    return path;
  }

 protected:
  const char* text_or_null(std::string& place, std::string text) {
    place = std::move(text);
    return from_.byte() == 255 ? nullptr : place.c_str();
  }
  const char* url() {
    const std::uint8_t kind = from_.byte();
    std::string text = kind < 96    ? "mem:"
                       : kind < 224 ? "file:" + directory()
                       : kind < 232 ? "file:" + directory() + "?sync=always"
                       : kind < 240 ? "file:" + directory() + "?" + from_.text(20)
                                    : "mem:" + from_.text(20);
    return text_or_null(url_, std::move(text));
  }
  const char* name() {
    const std::uint8_t kind = from_.byte();
    return text_or_null(name_,
                        kind < 240 ? std::string(1, static_cast<char>('a' + kind % 3)) : from_.text(120));
  }

  const everseen_options* options(everseen_options& o) {
    if (from_.byte() < 128) return nullptr;
    o.capacity = from_.number() % 100'000;
    if (from_.byte() < 16) o.error_rate = static_cast<double>(static_cast<std::int64_t>(from_.number()));
    if (from_.byte() < 64) o.error_rate = 1.0 / (2.0 + static_cast<double>(from_.number()));
    if (from_.byte() < 64) o.window_ms = from_.number();
    if (from_.byte() < 64) o.slices = static_cast<std::uint32_t>(from_.number() % 2'000);
    // Every value, and one that nothing has yet.
    if (from_.byte() < 64) o.growth = from_.byte() % (EVERSEEN_OVERFILL + 2U);
    if (from_.byte() < 32) o.hash = from_.byte() % (EVERSEEN_SIPHASH + 2U);
    if (from_.byte() < 16) o.judge = from_.byte() % (EVERSEEN_JUDGE_CLIENT + 2U);
    if (from_.byte() < 16) o.lifetime_ms = from_.number();
    if (from_.byte() < 8) o.size = static_cast<std::size_t>(from_.number() % (sizeof o + 1));
    return &o;
  }

  const char* source() { return text_or_null(source_, from_.byte() < 200 ? "s/0" : from_.text(200)); }

  /// Times of keys; their number is what the input says, and may be wrong.
  void take_times(std::size_t keys) {
    times_.clear();
    const std::uint8_t kind = from_.byte();
    const std::size_t count = kind < 128 ? 0 : kind < 192 ? 1 : kind < 240 ? keys : kind % 8;
    for (std::size_t i = 0; i < count; ++i) times_.push_back(static_cast<std::int64_t>(from_.number()));
  }
  [[nodiscard]] const std::int64_t* times() const { return times_.empty() ? nullptr : times_.data(); }
  [[nodiscard]] std::size_t times_count() const { return times_.size(); }

  void take_keys() {
    texts_.clear();
    slices_.clear();
    const std::size_t count = from_.byte() % 20;
    for (std::size_t i = 0; i < count; ++i) texts_.push_back(from_.text(12));
    for (const std::string& text : texts_)
      slices_.push_back({from_.byte() == 255 ? nullptr : text.data(), text.size()});
  }

  template <typename Offset>
  std::vector<Offset> offsets(std::size_t count, std::size_t length) {
    std::vector<Offset> all;
    Offset last = 0;
    for (std::size_t i = 0; i <= count; ++i) {
      const std::uint8_t kind = from_.byte();
      if (kind < 250) last = static_cast<Offset>(std::min(static_cast<std::size_t>(last) + kind % 5, length));
      all.push_back(kind < 250 ? last : static_cast<Offset>(from_.number()));
    }
    // Valid offsets promise that there are as many bytes as the last one says.
    if (all.back() > static_cast<Offset>(length)) all.back() = -1;
    return all;
  }

  fuzz_input from_;
  std::vector<everseen_slice> slices_{};

 private:
  std::string url_{}, name_{}, source_{};
  std::vector<std::string> texts_{};
  std::vector<std::int64_t> times_{};
};

}  // namespace everseen
