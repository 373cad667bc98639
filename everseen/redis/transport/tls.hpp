#pragma once

#include <memory>
#include <string>

#include "everseen/redis/wire/redis_url.hpp"

struct ssl_ctx_st;
struct ssl_st;

namespace everseen::redis {

/// What all TLS connections of one URL share: the trusted CAs and the client's certificate.
///
/// TLS 1.2 or later; the server's certificate must be signed by a trusted CA and name the server.
class tls_context {
 public:
  /// @throws parameter_error  a file of the URL cannot be read, or the key does not belong to the certificate
  explicit tls_context(const redis_url& url);

  /// Prepares a session for a server: sends its name (SNI) and checks the certificate against it.
  void expect(ssl_st* session, const std::string& host) const;

  /// OpenSSL's message about the certificate if that is why a handshake failed.
  /// @return empty if the certificate was not the reason
  [[nodiscard]] static std::string certificate_fault(ssl_st* session);

  [[nodiscard]] ssl_ctx_st* get() const noexcept { return context_.get(); }

 private:
  std::shared_ptr<ssl_ctx_st> context_;
  std::string server_name_;
};

}  // namespace everseen::redis
