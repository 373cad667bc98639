#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace everseen::test {

/// A network that fails as told: forwards a TCP port of 127.0.0.1 to another, and can cut, hold, delay or
/// refuse.
///
/// Threads: any; it works in one of its own.
class cutting_proxy {
 public:
  enum class direction : std::uint8_t { to_server, to_client };

  explicit cutting_proxy(std::uint16_t server_port);
  ~cutting_proxy();
  cutting_proxy(const cutting_proxy&) = delete;
  cutting_proxy& operator=(const cutting_proxy&) = delete;

  [[nodiscard]] std::uint16_t port() const noexcept;
  /// redis://127.0.0.1:port, then what is given.
  [[nodiscard]] std::string url(const std::string& rest = "") const;

  /// From now on, so many bytes in this direction still pass; then the connection is cut on both sides. With
  /// 0, the next byte cuts it. Once; the connections after it live.
  void cut_after(direction d, std::size_t bytes);
  /// The same, and from that moment on refuse(true).
  void cut_for_long_after(direction d, std::size_t bytes);
  /// Whether the last of these cuts has happened.
  [[nodiscard]] bool has_cut() const;
  /// From now on, so many bytes in this direction still pass; those behind them wait until release(), as if
  /// who reads or writes them had been stopped.
  void hold_after(direction d, std::size_t bytes);
  /// Whether bytes wait.
  [[nodiscard]] bool holds() const;
  void release();
  /// Bytes that have passed so far.
  [[nodiscard]] std::size_t passed(direction d) const;
  /// Every piece of data waits so long.
  void delay(std::chrono::milliseconds by);
  /// Cuts what there is, and every new connection at once.
  void refuse(bool on);
  /// How many connections there have been.
  [[nodiscard]] std::size_t connections() const;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace everseen::test
