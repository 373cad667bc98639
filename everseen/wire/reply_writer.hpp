#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace everseen::wire {

/// The protocol version that a client requested with HELLO.
enum class protocol : std::uint8_t { resp2 = 2, resp3 = 3 };

/// Appends replies to a buffer, in the client's protocol version.
///
/// Types that RESP2 lacks are sent as Redis does: a map as a flat array, a set as an array, a boolean as 1 or
/// 0, a double as a string, text for people as a string, null as a null string.
/// Threads: one. Cost: a few ns, no allocation except the buffer's.
class reply_writer {
 public:
  explicit reply_writer(std::string& out, protocol version = protocol::resp2)
      : out_(out), version_(version) {}

  void set_version(protocol version) noexcept { version_ = version; }
  [[nodiscard]] protocol version() const noexcept { return version_; }

  /// A simple string, as in +OK.    @pre no line end in it
  void status(std::string_view text);
  /// @param text  code and message, as in "ERR not found"; line ends become blanks
  void error(std::string_view text);
  void integer(std::int64_t value);
  void truth(bool value);
  void real(double value);
  void bulk(std::string_view bytes);
  /// Text for people, such as that of INFO: a verbatim string.
  void text(std::string_view lines);
  void null();

  /// Headers of aggregate replies; the announced number of elements must follow.
  void array(std::size_t elements);
  void map(std::size_t pairs);
  void set(std::size_t elements);

  void ok() { status("OK"); }

  /// Replies that another writer has encoded.
  void encoded(std::string_view replies) { out_.append(replies); }

 private:
  void head(char type, std::int64_t value);

  std::string& out_;
  protocol version_;
};

}  // namespace everseen::wire
