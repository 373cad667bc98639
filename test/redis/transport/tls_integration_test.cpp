#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "everseen/core/base/error.hpp"
#include "everseen/redis/transport/server_connections.hpp"

#include "test/redis/transport/talking.hpp"
#include "test/support/redis_server.hpp"

namespace everseen::redis {
namespace {

using test::redis_server;
using ::testing::HasSubstr;

class Tls : public ::testing::Test {
 protected:
  static const test::tls_files& files() {
    static const test::tls_files made;
    return made;
  }

  static redis_server::options options() {
    redis_server::options o;
    o.tls = &files();
    return o;
  }

  [[nodiscard]] std::string client() const {
    return "&cert=" + files().client_cert() + "&key=" + files().client_key();
  }
  [[nodiscard]] std::string url(const std::string& ca, const std::string& more) const {
    return server.url("?retry_for=5s&ca=" + ca + more);
  }

  redis_server server{options()};
};

TEST_F(Tls, ServerAndClientTrustEachOther) {
  server_connections s(parse_redis_url(url(files().ca(), client())));
  EXPECT_EQ(s.ask({}, {"SET", "k", "v"}).text(), "OK");
}

TEST_F(Tls, ServerIsVerifiedUnderAnotherName) {
  server_connections s(parse_redis_url(url(files().ca(), client() + "&server_name=redis.test")));
  EXPECT_EQ(s.ask({}, {"PING"}).text(), "PONG");
}

TEST_F(Tls, HugePipelinesDoNotBlock) {
  server_connections s(parse_redis_url(url(files().ca(), client())));
  const std::vector<request> requests(40, repeatable({"ECHO", std::string(1 << 20, 'x')}));
  for (const auto& a : s.exchange(requests)) ASSERT_TRUE(a) << a.error().message;
}

TEST_F(Tls, CertificateOfAnUnknownIssuerIsReportedImmediately) {
  server_connections s(parse_redis_url(url(files().stranger(), client())));
  const outage o = outage_of(s, of({"PING"}));
  EXPECT_THAT(o.message, HasSubstr("certificate is not accepted"));
  EXPECT_FALSE(o.may_have_run);
  server_connections with_system(
      parse_redis_url(server.url("?cert=" + files().client_cert() + "&key=" + files().client_key())));
  EXPECT_THAT(outage_of(with_system, of({"PING"})).message, HasSubstr("certificate is not accepted"));
}

TEST_F(Tls, CertificateForAnotherNameIsReportedImmediately) {
  for (const char* name : {"other.test", "127.0.0.2"}) {
    server_connections s(parse_redis_url(url(files().ca(), client() + "&server_name=" + name)));
    EXPECT_THAT(outage_of(s, of({"PING"})).message, HasSubstr("mismatch"));
  }
}

TEST_F(Tls, MissingClientCertificateIsAnOutageInWhichNothingRan) {
  server_connections s(parse_redis_url(server.url("?retry_for=0s&ca=" + files().ca())));
  const outage o = outage_of(s, of({"PING"}));
  EXPECT_THAT(o.message, HasSubstr("certificate required"));
  EXPECT_FALSE(o.may_have_run);
}

TEST_F(Tls, PlainTextToATlsServerIsAnOutage) {
  server_connections s(parse_redis_url("redis://" + server.address() + "?retry_for=0s"));
  const outage told = outage_of(s, of({"PING"}));
  EXPECT_FALSE(told.may_have_run);
  EXPECT_THAT(told.message, HasSubstr("begins with rediss"));
}

TEST_F(Tls, TlsToAPlainServerIsAnOutage) {
  const redis_server plain;
  server_connections s(
      parse_redis_url("rediss://" + plain.address() + "?retry_for=0s&connect_timeout=1s&ca=" + files().ca()));
  const outage told = outage_of(s, of({"PING"}));
  EXPECT_FALSE(told.may_have_run);
  EXPECT_THAT(told.message, HasSubstr("does this port speak TLS?"));
}

TEST_F(Tls, UnreadableFilesAreNamed) {
  const auto complaint = [&](const std::string& options) -> std::string {
    try {
      server_connections s(parse_redis_url(server.url(options)));
      return "accepted";
    } catch (const parameter_error& e) {
      return e.what();
    }
  };
  EXPECT_THAT(complaint("?ca=/no/ca.pem"), HasSubstr("/no/ca.pem"));
  EXPECT_THAT(complaint("?cert=/no/c.pem&key=" + files().client_key()), HasSubstr("/no/c.pem"));
  EXPECT_THAT(complaint("?cert=" + files().client_cert() + "&key=" + files().path("server.key")),
              HasSubstr("key="));
}

}  // namespace
}  // namespace everseen::redis
