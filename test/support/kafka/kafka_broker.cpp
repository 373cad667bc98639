#include "test/support/kafka/kafka_broker.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "test/support/redis_server.hpp"

namespace everseen::test {

namespace {

std::string url_at(const std::string& address, std::string_view topic, std::string_view rest) {
  return "kafka://" + address + '/' + std::string(topic) + std::string(rest);
}

}  // namespace

std::string kafka_broker::why_not() {
  return std::filesystem::exists(kafka_preparation::jars())
             ? ""
             : "there is no Apache Kafka; ./dev peers brings it";
}

void kafka_broker::skip_test_without() {
  if (std::getenv("EVERSEEN_PEERS_REQUIRED") != nullptr)
    ASSERT_EQ(why_not(), "");
  else if (!why_not().empty())
    GTEST_SKIP() << why_not();
}

kafka_broker::kafka_broker(std::size_t gates, const tls_files* authority) {
  kafka_node::place place;
  place.quorum = "1@" + ports_.address(controller_port);
  place.client_address = address();
  place.controller_address = ports_.address(controller_port);
  for (std::size_t i = 0; i < gates; ++i) {
    gates_.emplace_back(new gate(ports_.at(gate_port + i)));
    const std::string name = "GATE" + std::to_string(i);
    place.more_listeners += ',' + name + "://" + ports_.address(gate_port + i);
    place.more_advertised += ',' + name + "://127.0.0.1:" + std::to_string(gates_[i]->network.port());
    place.more_protocols += ',' + name + ":PLAINTEXT";
  }
  if (authority != nullptr) {
    const std::string more = ",SASL://" + ports_.address(sasl_port) + ",TLS://" + ports_.address(tls_port);
    place.more_listeners += more;
    place.more_advertised += more;
    place.more_protocols += ",SASL:SASL_PLAINTEXT,TLS:SSL";
    const std::string identity = (directory_.path() / "identity.pem").string();
    std::ofstream(identity) << std::ifstream(authority->path("server.key")).rdbuf()
                            << std::ifstream(authority->path("server.crt")).rdbuf();
    const std::string login = "org.apache.kafka.common.security.";
    place.more_settings =
        "listener.name.sasl.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256\n"
        "listener.name.sasl.plain.sasl.jaas.config=" +
        login + "plain.PlainLoginModule required user_alice=\"right\" user_worker=\"right\";\n" +
        "listener.name.sasl.scram-sha-256.sasl.jaas.config=" + login +
        "scram.ScramLoginModule required;\n"
        "listener.name.tls.ssl.client.auth=required\nlistener.name.tls.ssl.keystore.type=PEM\n"
        "listener.name.tls.ssl.keystore.location=" +
        identity + "\nlistener.name.tls.ssl.truststore.type=PEM\nlistener.name.tls.ssl.truststore.location=" +
        authority->ca() +
        "\nauthorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer\n"
        "super.users=User:ANONYMOUS;User:alice;User:CN=client\n";
  }
  node_ = std::make_unique<kafka_node>(place);
  start();
}

kafka_broker& kafka_broker::of_all() {
  static kafka_broker broker(most_gates);
  return broker;
}

std::string kafka_broker::address() const {
  return ports_.address(client_port);
}

std::string kafka_broker::url(std::string_view topic, std::string_view rest) const {
  return url_at(address(), topic, rest);
}

std::string kafka_broker::sasl_url(std::string_view topic, std::string_view rest) const {
  return url_at(ports_.address(sasl_port), topic, rest);
}

std::string kafka_broker::tls_url(std::string_view topic, std::string_view rest) const {
  return url_at(ports_.address(tls_port), topic, rest);
}

std::string kafka_broker::gate::url(std::string_view topic, std::string_view rest) const {
  return url_at("127.0.0.1:" + std::to_string(network.port()), topic, rest);
}

void kafka_broker::start() {
  node_->start();
  client_ = std::make_unique<kafka_client>(address());  // an old one waits for long
  try {
    client_->wait_for_brokers(1);
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(std::string(e.what()) + "; Kafka wrote: " + node_->output());
  }
}

}  // namespace everseen::test
