#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace everseen::wire {

/// The version of the protocol that a client has asked for by HELLO.
enum class protocol : std::uint8_t { resp2 = 2, resp3 = 3 };

/// Writes replies to the end of a buffer, in the version that the client speaks.
///
/// What RESP2 has no type for it gets as Redis sends it: a map as a flat array, a set as an array, a truth
/// as 1 or 0, a number with a fraction as a string, nothing as a null string.
/// Threads: one. Cost: a few ns, no allocation but the buffer's.
class reply_writer {
 public:
  explicit reply_writer(std::string& to, protocol version = protocol::resp2) : out_(to), version_(version) {}

  void set_version(protocol version) noexcept { version_ = version; }
  [[nodiscard]] protocol version() const noexcept { return version_; }

  /// A short word of the server's own, as in +OK.    @pre no line end in it
  void status(std::string_view text);
  /// @param text  code and message, as in "ERR not found"; line ends in it become blanks
  void error(std::string_view text);
  void integer(std::int64_t value);
  void truth(bool value);
  void real(double value);
  void bulk(std::string_view bytes);
  void null();

  /// The beginnings of replies with parts; as many must follow.
  void array(std::size_t elements);
  void map(std::size_t pairs);
  void set(std::size_t elements);

  void ok() { status("OK"); }

 private:
  void head(char type, std::int64_t value);

  std::string& out_;
  protocol version_;
};

}  // namespace everseen::wire
