#include "everseen/serve/server.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>
#include <sys/resource.h>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/net/asio_listener.hpp"
#include "everseen/serve/net/asio_loop.hpp"
#include "everseen/serve/service/service.hpp"
#include "everseen/serve/service/store_health.hpp"
#include "everseen/store/disk/lock_file.hpp"

namespace everseen::serve {

namespace {

namespace asio = boost::asio;

/// How often the server checks whether to stop, and after how many of these checks it tends the filters.
constexpr std::chrono::milliseconds stop_poll_interval{50};
constexpr unsigned glances_a_look = 4;

options completed(options o) {
  if (o.threads == 0) o.threads = std::max(1U, std::thread::hardware_concurrency());
  o.store_threads = std::max(1U, o.store_threads);
  return o;
}

/// A descriptor for each client, and some for filters.
void raise_descriptor_limit() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

void require(boost::system::error_code fault, const std::string& problem, const std::string& path) {
  if (fault) throw parameter_error("cannot read " + problem + " " + path + ": " + fault.message());
}

void must_have_directory(const listen_address& where) {
  if (where.is != listen_address::kind::unix_socket) return;
  const std::filesystem::path directory = std::filesystem::absolute(where.path).parent_path();
  if (!std::filesystem::is_directory(directory))
    throw parameter_error("cannot listen on " + where.text() + ": there is no directory " +
                          directory.string());
}

/// Only one server at a time can use the filters of a directory.
std::optional<lock_file> occupied(const std::filesystem::path& directory) {
  if (directory.empty()) return std::nullopt;
  return reserve_to_serve(directory);
}

/// Null without a certificate; must_be_safe has then refused TLS listeners.
std::unique_ptr<asio::ssl::context> make_tls(const options& o) {
  if (o.tls.cert_file.empty()) return nullptr;
  auto tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
  boost::system::error_code fault;
  tls->use_certificate_chain_file(o.tls.cert_file, fault);
  require(fault, "the certificate", o.tls.cert_file);
  tls->use_private_key_file(o.tls.key_file, asio::ssl::context::pem, fault);
  require(fault, "the private key", o.tls.key_file);
  if (o.tls.ca_file.empty()) return tls;
  tls->load_verify_file(o.tls.ca_file, fault);
  require(fault, "the certificates of the CA", o.tls.ca_file);
  tls->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  // Without a context OpenSSL refuses a session whose client was verified when that client resumes it.
  constexpr unsigned char sessions[] = {'e', 'v', 'e', 'r', 's', 'e', 'e', 'n'};
  SSL_CTX_set_session_id_context(tls->native_handle(), sessions, sizeof sessions);
  return tls;
}

}  // namespace

void must_be_able_to_begin(const options& o) {
  must_be_safe(o);
  (void)make_tls(o);
  for (const auto* addresses : {&o.listen, &o.http})
    for (const listen_address& each : *addresses) must_have_directory(each);
}

/// The parts of the server, in the order of their construction.
class filter_server::runtime {
 public:
  runtime(const options& o, const std::shared_ptr<store>& place)
      : occupied_(occupied(place->traits().directory)),
        was_store_there_(is_available(*place, o.log.get())),
        all_(o, place),
        tls_(make_tls(o)) {
    for (unsigned i = 0; i < o.threads; ++i) loops_.push_back(std::make_unique<loop>());
    for (const listen_address& each : o.listen) listen(each, protocol::resp);
    for (const listen_address& each : o.http) listen(each, protocol::http);
    all_.set_addresses(addresses(protocol::resp));
  }

  ~runtime() { end(); }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  [[nodiscard]] std::vector<listen_address> addresses(protocol spoken) const {
    std::vector<listen_address> all;
    for (const auto& each : listeners_)
      if (each->speaks() == spoken) all.push_back(each->address());
    return all;
  }

  void run_until(const std::function<bool()>& must_stop, const std::function<void()>& stops) {
    for (const auto& each : listeners_) each->begin();
    if (!was_store_there_) all_.health().await_store(all_.settings().log);
    for (unsigned i = 0; !must_stop() && !all_.must_stop(); ++i) {
      std::this_thread::sleep_for(stop_poll_interval);
      if (i % glances_a_look != 0) continue;
      all_.filters().maintain();
      all_.workers().submit([this] {  // a load may be on a slow server
        all_.loads().forget_before(chunk_loads::clock::now() - all_.settings().request_timeout);
      });
      all_.health().poll_store();
    }
    if (stops) stops();
    end();
    all_.filters().sync();
  }

 private:
  void listen(const listen_address& where, protocol speaks) {
    const bool encrypts = where.is == listen_address::kind::tls;
    listeners_.push_back(
        std::make_unique<listener>(all_, loops_, where, speaks, encrypts ? tls_.get() : nullptr));
  }

  /// Stops accepting clients, answers the connected ones for a limited time, then ends the threads.
  void end() {
    if (has_ended_) return;
    has_ended_ = true;
    all_.begin_to_stop();
    all_.log(telemetry::log_level::info, "stopping",
             {{"connections", static_cast<std::int64_t>(all_.clients().size())}});
    for (const auto& each : listeners_) each->stop();
    for (const auto& each : loops_) each->drain();
    wait_for_clients();
    for (const auto& each : loops_) each->close_all();
    all_.stats().give_up();
    all_.workers().finish();
    all_.batches().finish();
    all_.asides().finish();
    for (const auto& each : loops_) each->finish();
  }

  /// Clients that still wait near the end get an error, early enough to receive it.
  void wait_for_clients() {
    using clock = std::chrono::steady_clock;
    const clock::duration whole = all_.settings().drain_timeout;
    for (const auto began = clock::now(); all_.clients().size() > 0 && clock::now() < began + whole;) {
      if (clock::now() > began + whole / 5 * 4) all_.stats().give_up();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  const std::optional<lock_file> occupied_;
  const bool was_store_there_;
  // Loops hold connections, which use the service until the loops' threads have ended.
  service all_;
  std::unique_ptr<asio::ssl::context> tls_;
  std::vector<std::unique_ptr<loop>> loops_{};
  std::vector<std::unique_ptr<listener>> listeners_{};
  bool has_ended_ = false;
};

filter_server::filter_server(const options& o, const std::shared_ptr<store>& place) {
  must_be_safe(o);
  raise_descriptor_limit();
  runtime_ = std::make_unique<runtime>(completed(o), place);
}

filter_server::~filter_server() = default;

std::vector<listen_address> filter_server::addresses() const {
  return runtime_->addresses(protocol::resp);
}

std::vector<listen_address> filter_server::http_addresses() const {
  return runtime_->addresses(protocol::http);
}

void filter_server::run_until(const std::function<bool()>& must_stop, const std::function<void()>& stops) {
  runtime_->run_until(must_stop, stops);
}

}  // namespace everseen::serve
