#include "everseen/jobs/kafka/kafka_url.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "everseen/core/base/digits.hpp"
#include "everseen/core/base/error.hpp"
#include "everseen/core/base/url_text.hpp"

namespace everseen {

namespace {

using text = std::string_view;
constexpr text kafka_scheme = "kafka://";
constexpr text passed_on = "property.";

struct ours {
  text property;
  text instead;
};
constexpr std::array<ours, 14> properties_of_ours{{
    {"bootstrap.servers", "the brokers come before the topic"},
    {"metadata.broker.list", "the brokers come before the topic"},
    {"group.id", "write group=..."},
    {"auto.offset.reset", "write start=earliest or start=latest"},
    {"enable.auto.commit", "offsets are committed when their events are settled"},
    {"enable.auto.offset.store", "offsets are committed when their events are settled"},
    {"isolation.level", "only committed messages are read"},
    {"enable.partition.eof", "write until=end"},
    {"partition.assignment.strategy", "partitions change hands one by one (cooperative-sticky)"},
    {"enable.idempotence", "the producer is always idempotent"},
    {"max.in.flight.requests.per.connection", "one at a time, or refused messages would be lost"},
    {"max.in.flight", "one at a time, or refused messages would be lost"},
    {"acks", "messages are always acknowledged by all replicas"},
    {"request.required.acks", "messages are always acknowledged by all replicas"},
}};

/// A topic name that Kafka accepts.
std::string to_topic(text written) {
  std::string topic = url_text::decode("the topic", written);
  const auto fits = [](char c) { return url_text::is_word({&c, 1}) || c == '.' || c == '-'; };
  if (topic.empty() || topic.size() > 249 || topic == "." || topic == ".." ||
      !std::ranges::all_of(topic, fits))
    throw parameter_error(
        "the topic of a Kafka URL is missing or invalid: it follows the brokers, as in "
        "kafka://host:9092/clicks, and has letters, digits, . - _");
  return topic;
}

std::string to_broker(text written) {
  text rest;
  std::string broker;
  if (written.starts_with('[')) {
    const std::size_t end = written.find(']');
    if (end == text::npos) throw parameter_error("an IPv6 address ends with ]");
    broker = '[' + url_text::to_ipv6(written.substr(1, end - 1)) + ']';
    rest = written.substr(end + 1);
  } else {
    const std::size_t colon = std::min(written.find(':'), written.size());
    broker = url_text::to_host(written.substr(0, colon));
    rest = written.substr(colon);
  }
  if (rest.empty()) return broker + ":9092";
  const auto port = rest.starts_with(':') ? read_number(rest.substr(1)) : std::nullopt;
  if (!port || *port == 0 || *port > 65535)
    throw parameter_error("the port of '" + broker + "' is not a number from 1 to 65535");
  return broker + ':' + std::to_string(*port);
}

struct kafka_option {
  text name;
  void (*set)(kafka_url&, text value);
};
constexpr std::array<kafka_option, 6> kafka_options{{
    {"group", [](kafka_url& u, text v) { u.group = url_text::filled("group", v); }},
    {"start",
     [](kafka_url& u, text v) {
       u.start = url_text::is_second("start", v, "earliest", "latest") ? kafka_url::start_at::latest
                                                                       : kafka_url::start_at::earliest;
     }},
    {"until", [](kafka_url& u, text v) { u.until_end = url_text::is_second("until", v, "stopped", "end"); }},
    {"gap",
     [](kafka_url& u, text v) {
       u.gap = url_text::is_second("gap", v, "fail", "skip") ? kafka_url::gap_rule::skip
                                                             : kafka_url::gap_rule::fail;
     }},
    {"retry_for", [](kafka_url& u, text v) { u.retry_for = url_text::to_duration("retry_for", v); }},
    {"config", [](kafka_url& u, text v) { u.config_file = url_text::filled("config", v); }},
}};

bool is_property_name(text name) {
  const auto fits = [](char c) { return url_text::is_word({&c, 1}) || c == '.'; };
  return !name.empty() && name.size() <= 100 && std::ranges::all_of(name, fits);
}

/// Shows the name only if it cannot be the rest of a password whose & was not written as %26.
[[noreturn]] void unknown_option(text name, bool after_password) {
  if (after_password)
    throw parameter_error("what follows a password is not an option; write & in a password as %26");
  std::string known;
  for (const kafka_option& o : kafka_options) known += std::string(o.name) + ", ";
  const std::string which =
      url_text::is_word(name) ? "'" + std::string(name) + "' is" : "there is a part that is";
  throw parameter_error(which + " not an option of a Kafka URL; there are " + known +
                        "and the properties of librdkafka, as security.protocol=ssl");
}

/// An option of everseen, or a property of librdkafka. Only one that has a dot in its name is taken for a
/// property as it is: a mistyped option must not be passed on.
void read_option(kafka_url& url, text name, text value, bool after_password) {
  if (const auto known = std::ranges::find(kafka_options, name, &kafka_option::name);
      known != kafka_options.end())
    return known->set(url, value);
  const bool passes = name.starts_with(passed_on);
  const text property = passes ? name.substr(passed_on.size()) : name;
  if (!is_property_name(property) || (!passes && name.find('.') == text::npos))
    unknown_option(name, after_password);
  check_kafka_property(property);
  url.properties.emplace_back(property, url_text::filled(property, value));
}

void read_options(kafka_url& url, text rest) {
  std::set<text> given;
  bool after_password = false;
  for (const text part : url_text::split(rest, '&')) {
    const text name = part.substr(0, part.find('='));
    if (name.size() == part.size()) {
      if (after_password || !is_property_name(name)) unknown_option(name, after_password);
      throw parameter_error(std::string(name) + " needs a value, as in " + std::string(name) + "=...");
    }
    read_option(url, name, part.substr(name.size() + 1), after_password);
    after_password = after_password || is_secret_property(name);
    // A property is the same with `property.` before it and without.
    if (!given.insert(name.substr(name.starts_with(passed_on) ? passed_on.size() : 0)).second)
      throw parameter_error("the URL has " + std::string(name) + " twice");
  }
}

}  // namespace

bool is_secret_property(std::string_view name) noexcept {
  constexpr std::array<text, 4> secret{"password", "secret", ".pem", "sasl.oauthbearer.config"};
  return std::ranges::any_of(secret, [name](text end) { return name.ends_with(end); });
}

bool is_kafka_url(std::string_view url) noexcept {
  return url.starts_with(kafka_scheme);
}

kafka_url parse_kafka_url(std::string_view written) {
  if (!is_kafka_url(written))
    throw parameter_error("a Kafka URL begins with kafka://, as in kafka://host:9092/clicks?group=count");
  text rest = written.substr(kafka_scheme.size());
  kafka_url url;
  const std::size_t question = std::min(rest.find('?'), rest.size());
  const text place = rest.substr(0, question);
  const std::size_t slash = std::min(place.find('/'), place.size());
  if (place.substr(0, slash).find('@') != text::npos)
    throw parameter_error(
        "a Kafka URL has no credentials in front of its brokers; write sasl.username=...&sasl.password=..., "
        "or put them into a file and write config=FILE");
  for (const text broker : url_text::split(place.substr(0, slash), ',')) {
    if (!url.brokers.empty()) url.brokers += ',';
    url.brokers += to_broker(broker);
  }
  for (const text topic : url_text::split(place.substr(std::min(slash + 1, place.size())), ','))
    url.topics.push_back(to_topic(topic));
  if (std::set<std::string>(url.topics.begin(), url.topics.end()).size() != url.topics.size())
    throw parameter_error("a topic is listed twice");
  if (question < rest.size()) read_options(url, rest.substr(question + 1));
  return url;
}

std::string to_string(const kafka_url& url) {
  std::string topics;
  for (const std::string& topic : url.topics) topics += (topics.empty() ? "" : ",") + topic;
  return std::string(kafka_scheme) + url.brokers + '/' + topics;
}

void check_kafka_property(std::string_view name) {
  const auto found = std::ranges::find(properties_of_ours, name, &ours::property);
  if (found != properties_of_ours.end())
    throw parameter_error(std::string(name) + " is not for the URL: " + std::string(found->instead));
}

}  // namespace everseen
