#include "everseen/redis/transport/tls.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "everseen/core/base/error.hpp"

namespace everseen::redis {

namespace {

std::string last_reason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "no reason given" : reason;
}

void require(bool done, const std::string& tried) {
  if (!done) throw parameter_error("cannot " + tried + ": " + last_reason());
}

void trust(SSL_CTX* context, const redis_url& url) {
  if (url.ca_file.empty())
    require(SSL_CTX_set_default_verify_paths(context) == 1, "read the certificates that this system trusts");
  else
    require(SSL_CTX_load_verify_locations(context, url.ca_file.c_str(), nullptr) == 1,
            "read the certificates in ca=" + url.ca_file);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
}

void present(SSL_CTX* context, const redis_url& url) {
  if (url.cert_file.empty()) return;
  require(SSL_CTX_use_certificate_chain_file(context, url.cert_file.c_str()) == 1,
          "read the certificate in cert=" + url.cert_file);
  require(SSL_CTX_use_PrivateKey_file(context, url.key_file.c_str(), SSL_FILETYPE_PEM) == 1,
          "use the key in key=" + url.key_file + " for the certificate in cert=" + url.cert_file);
}

}  // namespace

tls_context::tls_context(const redis_url& url)
    : context_(SSL_CTX_new(TLS_client_method()), SSL_CTX_free), server_name_(url.server_name) {
  require(context_ != nullptr, "start OpenSSL");
  SSL_CTX_set_min_proto_version(get(), TLS1_2_VERSION);
  trust(get(), url);
  present(get(), url);
}

void tls_context::expect(ssl_st* session, const std::string& host) const {
  const std::string& name = server_name_.empty() ? host : server_name_;
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name.c_str()) == 1) return;
  ERR_clear_error();
  require(SSL_set1_host(session, name.c_str()) == 1, "look for the server name '" + name + "'");
  SSL_set_tlsext_host_name(session, name.c_str());
}

std::string tls_context::certificate_fault(ssl_st* session) {
  const long code = SSL_get_verify_result(session);
  return code == X509_V_OK ? "" : X509_verify_cert_error_string(code);
}

}  // namespace everseen::redis
