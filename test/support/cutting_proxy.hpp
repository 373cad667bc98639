#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace everseen::test {

/// A network that fails on demand: forwards a TCP port of 127.0.0.1 to another, and can cut, hold, delay or
/// refuse.
///
/// Threads: any; it works on its own.
class cutting_proxy {
 public:
  enum class direction : std::uint8_t { to_server, to_client };

  explicit cutting_proxy(std::uint16_t server_port);
  ~cutting_proxy();
  cutting_proxy(const cutting_proxy&) = delete;
  cutting_proxy& operator=(const cutting_proxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// redis://127.0.0.1:port and `rest`.
  [[nodiscard]] std::string url(const std::string& rest = "") const;

  /// This many more bytes pass in this direction; then the connection is cut on both sides. With 0, the next
  /// byte cuts it. Once; later connections are not affected.
  void cut_after(direction d, std::size_t bytes);
  /// The same, followed by refuse(true).
  void cut_for_long_after(direction d, std::size_t bytes);
  /// From now on every new connection is cut after this many bytes in this direction. 0: none is any more.
  void cut_every(direction d, std::size_t bytes);
  /// Whether the last of these cuts has happened.
  [[nodiscard]] bool has_cut() const;
  /// This many more bytes pass in this direction; the following ones wait until release(), as if their
  /// reader or writer had been stopped.
  void hold_after(direction d, std::size_t bytes);
  /// Whether bytes wait.
  [[nodiscard]] bool holds() const;
  void release();
  /// Bytes that have passed so far.
  [[nodiscard]] std::size_t passed(direction d) const;
  /// Delays every piece of data by this time.
  void delay(std::chrono::milliseconds duration);
  /// Cuts all connections, and every new one immediately.
  void refuse(bool on);
  /// Leads new connections to another port of 127.0.0.1.
  void lead_to(std::uint16_t server_port);
  /// The number of connections so far.
  [[nodiscard]] std::size_t connections() const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen::test
