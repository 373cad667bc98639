#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/serve/base/command.hpp"
#include "everseen/serve/resp/gathered_batches.hpp"
#include "everseen/serve/service/client_list.hpp"
#include "everseen/serve/service/service.hpp"
#include "everseen/wire/reply_writer.hpp"
#include "everseen/wire/request_parser.hpp"

namespace everseen::serve {

/// One client's conversation: bytes of requests in, bytes of replies out. It has no socket.
///
/// Key requests are batched: those of one socket read that ask the same filter the same question become one
/// batch, as long as no other request between them could observe the difference. Replies always come in the
/// order of the requests.
///
/// Work that may wait for the store runs on a worker. Meanwhile the session is suspended: the bytes given to
/// run() must stay in place, and only the worker may use the session.
///
/// Threads: one at a time.
class session {
 public:
  /// @param wake  called on another thread when a suspended session can continue; it must cause a call of
  ///         take_back()
  session(service& all, std::shared_ptr<client> who, std::function<void()> wake);
  ~session();
  session(const session&) = delete;
  session& operator=(const session&) = delete;

  enum class state : std::uint8_t {
    wants_bytes,  ///< all complete requests were answered
    wants_room,   ///< more can be answered once output() has been sent
    suspended,    ///< wait for wake(), then take_back(), and run() again with the same bytes
    ending,       ///< send output(), then close
  };
  struct progress {
    state outcome = state::wants_bytes;
    std::size_t used = 0;  ///< bytes of completed requests
  };

  /// Answers what it can.
  /// @param unread  the received bytes after those used so far
  progress run(std::string_view unread);

  /// After wake(): puts the replies of the finished work into output(). They may be many.
  void take_back();

  /// From now on each request is answered that it was not run and may be sent again: the server is being
  /// stopped.    @pre it is not suspended
  void stop_running() noexcept { is_stopping_ = true; }

  /// Replies to send. The sender takes them out.
  [[nodiscard]] std::string& output() noexcept { return output_; }
  /// Whether a request has begun and not yet ended.
  [[nodiscard]] bool is_in_request() const noexcept { return is_in_request_; }
  /// Bytes that the buffer should hold for the current request.
  [[nodiscard]] std::size_t needed_bytes() const noexcept { return parser_.needed(); }

  // The part that commands read and change:

  [[nodiscard]] client& self() noexcept { return *client_; }
  [[nodiscard]] wire::protocol version() const noexcept { return reply_.version(); }
  void set_version(wire::protocol v) noexcept {
    reply_.set_version(v);
    client_->protocol = static_cast<int>(v);
  }
  [[nodiscard]] right rights() const noexcept { return rights_; }
  /// @return false  unknown user or wrong password    @throws refusal  this client's network guesses
  ///         passwords
  bool log_in(std::string_view user, std::string_view password);
  void end() noexcept { is_ending_ = true; }
  /// Why this client may not send the request.    @return nothing  it may
  [[nodiscard]] std::optional<refusal> why_not(const command& entry, word_list request) const;
  /// Runs one request on this thread, whatever it waits for. Writes one reply.
  void run_request(const command& entry, word_list request);

  /// Back to the state of a new session.
  void reset();

  /// Ends the conversation: the requests of all clients hold so much memory that this one's cannot be read.
  void refuse_request();

  /// Requests since MULTI.
  struct transaction {
    explicit transaction(byte_budget::share memory) : held(std::move(memory)) {}

    byte_budget::share held;  ///< the memory of all of them
    std::vector<std::vector<std::string>> requests{};
    bool is_broken = false;  ///< a request was refused, so none of them will run
  };
  /// @throws refusal  there is one already
  void begin_transaction();
  /// Removes it.    @param command  for the refusal    @throws refusal  there is none
  [[nodiscard]] transaction end_transaction(std::string_view command);

 private:
  enum class next : std::uint8_t { go_on, stop };

  progress answer(std::string_view unread);
  next serve(word_list request, progress& p);
  bool batch(const command& entry, word_list request);
  /// Sets held_filter_ to the one of this key.    @return false  it is not open
  [[nodiscard]] bool hold_filter(std::string_view key);
  /// @return false  the batches are in flight; the session is suspended
  bool flush();
  void run_on_worker(const command& entry, word_list request);
  /// @return null  there is no such command: see `unknown_`
  [[nodiscard]] const command* known_command(word_list request);
  void refuse(const refusal& why);
  void write_down(word_list request);

  service& all_;
  std::shared_ptr<client> client_;
  std::function<void()> wake_;
  wire::request_parser parser_;
  byte_budget::share words_;  // of the current request
  std::string output_{};
  wire::reply_writer reply_{output_};
  right rights_;
  std::optional<transaction> transaction_{};
  gathered_batches gathered_;
  bool is_in_request_ = false;
  bool is_ending_ = false;
  bool is_stopping_ = false;
  bool is_suspended_ = false;
  std::size_t used_by_worker_ = 0;  // bytes of the request that a worker runs
  refusal unknown_{};               // why the last request has no command
  const command* last_command_ = nullptr;
  std::string last_name_{};
  std::weak_ptr<shared_filter> last_filter_{};
  std::shared_ptr<shared_filter> held_filter_{};  // last_filter_ during run(), so that it is not dropped
  std::uint64_t answered_ = 0;
  std::string last_key_{};
};

/// Whether an inline command belongs to an HTTP request: `POST / HTTP/1.1`, `Host: ...`.
///
/// A page of any site can make a browser send such a request to a port of this machine, with commands as
/// lines of its body. The request line always comes first; a server that closes the connection there runs
/// none of them.
[[nodiscard]] bool is_of_http(std::span<const std::string_view> line) noexcept;

}  // namespace everseen::serve
