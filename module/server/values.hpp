#pragma once

#include <string_view>
#include <utility>

#include "module/server/api.hpp"

/// Resources of the server, released automatically.
namespace everseen::redis_module {

namespace api = module_api;

[[nodiscard]] inline std::string_view text_of(const api::string* s) noexcept {
  std::size_t size = 0;
  const char* const bytes = api::string_bytes(s, &size);
  return {bytes, size};
}

/// A string of the server.
class value {
 public:
  value(api::context* ctx, std::string_view text)
      : ctx_(ctx), string_(api::create_string(ctx, text.data(), text.size())) {}
  /// Takes ownership of a server string; null: there is none.
  value(api::context* ctx, api::string* made) noexcept : ctx_(ctx), string_(made) {}
  value(value&& other) noexcept : ctx_(other.ctx_), string_(std::exchange(other.string_, nullptr)) {}
  value& operator=(value&&) = delete;
  ~value() {
    if (string_ != nullptr) api::free_string(ctx_, string_);
  }

  [[nodiscard]] api::string* get() const noexcept { return string_; }
  [[nodiscard]] bool exists() const noexcept { return string_ != nullptr; }
  /// Empty if there is none.
  [[nodiscard]] std::string_view text() const noexcept {
    return exists() ? text_of(string_) : std::string_view();
  }

 private:
  api::context* ctx_;
  api::string* string_;
};

/// An open key of the keyspace.
class open_key {
 public:
  open_key(api::context* ctx, api::string* name, int mode) : key_(api::open_key(ctx, name, mode)) {}
  open_key(open_key&& other) noexcept : key_(std::exchange(other.key_, nullptr)) {}
  open_key& operator=(open_key&&) = delete;
  ~open_key() {
    if (key_ != nullptr) api::close_key(key_);
  }

  [[nodiscard]] api::key* get() const noexcept { return key_; }
  [[nodiscard]] int type() const noexcept { return api::key_type(key_); }
  /// Length of a string in bytes.
  [[nodiscard]] std::size_t length() const noexcept { return key_ == nullptr ? 0 : api::value_length(key_); }
  /// The bytes of a string in place, until the key is closed.
  [[nodiscard]] char* bytes(int mode) const noexcept {
    std::size_t size = 0;
    return api::string_dma(key_, &size, mode);
  }

 private:
  api::key* key_;
};

/// The reply of a command that the module called.
class called {
 public:
  explicit called(api::call_reply* reply) noexcept : reply_(reply) {}
  called(const called&) = delete;
  called& operator=(const called&) = delete;
  ~called() {
    if (reply_ != nullptr) api::free_call_reply(reply_);
  }

 private:
  api::call_reply* reply_;
};

}  // namespace everseen::redis_module
