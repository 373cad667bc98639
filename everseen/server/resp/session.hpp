#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/server/base/command.hpp"
#include "everseen/server/registry/databases.hpp"
#include "everseen/server/resp/gathered_batches.hpp"
#include "everseen/server/service/client_list.hpp"
#include "everseen/server/service/exec_gate.hpp"
#include "everseen/server/service/filter_revision.hpp"
#include "everseen/server/service/service.hpp"
#include "everseen/wire/reply_writer.hpp"
#include "everseen/wire/request_parser.hpp"

namespace everseen::server {

/// One client's conversation: bytes of requests in, bytes of replies out. It has no socket.
///
/// Key requests are batched: those of one socket read that ask the same filter the same question become one
/// batch, as long as no other request between them could observe the difference. Replies always come in the
/// order of the requests.
///
/// Work on filters runs concurrently with other sessions, and a transaction alone: exec_gate. A session is
/// inside the gate only during its work, never because its client does not read.
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
    state is = state::wants_bytes;
    std::size_t used = 0;  ///< bytes of completed requests
  };

  /// Answers what it can.
  /// @param unread  the received bytes after those used so far
  progress run(std::string_view unread);

  /// After wake(): puts the replies of the finished work into output(). They may be many.
  void take_back();
  /// Leaves the gate, so that waiting transactions can run. Call it instead of run() if the client takes no
  /// more replies.    @pre it is not suspended
  void leave();

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
  /// After a refusal the connection has no database, so that a client that ignores the refusal does not use
  /// the filters of another one.    @param index  nothing: not a number    @throws refusal
  void select_database(std::optional<std::int64_t> index);
  [[nodiscard]] database_index database() const noexcept { return client_->database; }
  /// Runs one request on this thread, whatever it waits for. Writes one reply.
  void run_request(const command& what, word_list request);

  /// Back to the state of a new session.
  void reset();

  /// Ends the conversation: the requests of all clients hold so much memory that this one's cannot be read.
  void refuse_request();

  /// Whether replies are sent, as set by CLIENT REPLY.
  enum class replies : std::uint8_t {
    on,
    off,
    skip_next,  ///< that of the next request is not sent
    skipping,   ///< that of this request is not sent
  };
  void set_replies(replies how) noexcept {
    if (how != replies::skip_next || replies_ != replies::off) replies_ = how;
  }

  /// The requests queued since MULTI.
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
  [[nodiscard]] bool is_in_transaction() const noexcept { return transaction_.has_value(); }

  /// The state of filters when the client began to watch them. If one has changed, EXEC runs nothing.
  using watched_filters = std::map<std::string, filter_revision, std::less<>>;
  /// @pre it is not watched yet
  /// @throws refusal  the requests of all clients use all the memory that they may use
  void watch(std::string_view key, filter_revision seen);
  [[nodiscard]] const watched_filters& watched() const noexcept { return watched_; }
  void unwatch() noexcept;

 private:
  enum class next : std::uint8_t { go_on, stop };

  progress answer(std::string_view unread);
  next serve(word_list request, progress& p);
  bool batch(const command& what, word_list request);
  /// Sets held_filter_ to the one of this key.    @return false  it is not open
  [[nodiscard]] bool hold_filter(std::string_view key);
  /// @return false  the batches are in flight; the session is suspended
  bool flush();
  /// Enters the gate.    @return false  it has to wait; it is suspended
  [[nodiscard]] bool enter();
  /// After the work, on its thread.
  void wake_up();
  /// Runs what answers one request, and discards the answer if the client wants none.
  template <typename Answer>
  void answer_if_wanted(Answer answer);
  void run_on_worker(const command& what, word_list request);
  void run_alone(const command& what, word_list request);
  /// On a worker.
  void run_unless_stopped(const command& what, word_list request);
  /// @return null  there is no such command: see `unknown_`
  [[nodiscard]] const command* known_command(word_list request);
  [[nodiscard]] std::optional<refusal> why_not(const command* what, word_list request) const;
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
  exec_gate::counter* inside_ = nullptr;  // null: not inside
  bool is_in_request_ = false;
  bool has_database_ = true;
  bool is_ending_ = false;
  bool is_stopping_ = false;
  bool is_suspended_ = false;
  replies replies_ = replies::on;
  watched_filters watched_{};
  byte_budget::share watched_bytes_;
  std::size_t used_by_worker_ = 0;  // bytes of the request that a worker runs
  refusal unknown_{};               // why the last request has no command
  const command* last_command_ = nullptr;
  std::string last_name_{};
  std::weak_ptr<shared_filter> last_filter_{};
  std::shared_ptr<shared_filter> held_filter_{};  // last_filter_ during run(), so that it is not dropped
  std::uint64_t answered_ = 0;
  std::string last_key_{};
};

template <typename Answer>
void session::answer_if_wanted(Answer answer) {
  const std::size_t before = output_.size();
  if (replies_ == replies::skip_next) replies_ = replies::skipping;
  answer();
  if (replies_ == replies::off || replies_ == replies::skipping) output_.resize(before);
  if (replies_ == replies::skipping) replies_ = replies::on;
}

}  // namespace everseen::server
