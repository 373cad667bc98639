#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/hash/digest.hpp"

#include "module/commands/command.hpp"
#include "module/server/values.hpp"
#include "module/value/filter_type.hpp"
#include "module/value/filter_value.hpp"

/// The key of a filter, and what each call does with it: find the value or make it, find room for what the
/// call adds, inform replicas and listeners.
namespace everseen::redis_module {

/// A key that is to hold a filter.
class filter_key {
 public:
  /// @throws bad_word  it holds something else
  filter_key(api::context* ctx, api::string* name, int mode);

  [[nodiscard]] filter_value* get() const noexcept { return filter_; }
  /// @throws bad_word  there is none: RedisBloom's error
  [[nodiscard]] filter_value& filter_or_not_found() const;
  /// @throws refused_reply  GONE: there is none
  [[nodiscard]] filter_value& filter_or_gone() const;
  /// Makes a filter the value, here and, as the header of its chunks, on replicas: they need the same seed.
  filter_value& make(api::context* ctx, std::unique_ptr<filter_value> made);
  /// Informs listeners of what happened. One of them may be a module that deletes the key, so this comes
  /// last, and the key is closed before.
  /// @param event  null: nothing but that the filter is new, if it is
  void end(api::context* ctx, const char* event);

 private:
  api::string* name_;
  std::optional<open_key> key_;
  filter_value* filter_ = nullptr;
  bool is_new_ = false;
};

/// As must_fit() for bytes.    @param bytes_before  of its bits    @param layers  to be allocated now
void must_fit(api::context* ctx, std::uint64_t bytes_before, std::span<const std::uint64_t> layers);

/// Allocates all that adding these keys may need.    @throws  as must_fit(); nothing has changed
void prepare(api::context* ctx, filter_value& filter, const slice_batch& keys);

/// @param fingerprint  of the filter and partition that the caller means; null or empty: whichever is there
/// @throws refused_reply  COPIED: the value is another one, as after COPY or RESTORE
void must_be(const filter_value& filter, const api::string* fingerprint);
/// @throws refused_reply  SEALED: the value accepts no more keys
void must_accept(const filter_value& filter);
/// @throws bad_word  the value is no whole filter without a window, and so not for BF.*
void must_be_plain(const spec& s);
inline void must_be_plain(const filter_value& filter) {
  must_be_plain(filter.get_spec());
}

/// The words of a command.
class word_texts {
 public:
  explicit word_texts(std::span<api::string*> words) {
    all_.reserve(words.size());
    for (const api::string* word : words) all_.push_back(text_of(word));
  }
  [[nodiscard]] std::span<const std::string_view> all() const noexcept { return all_; }

 private:
  std::vector<std::string_view> all_;
};

[[nodiscard]] std::vector<digest> digests_of(const hasher& hash, std::span<const std::string_view> keys);

}  // namespace everseen::redis_module
