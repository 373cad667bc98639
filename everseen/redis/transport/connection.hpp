#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/redis/transport/byte_stream.hpp"
#include "everseen/redis/transport/event_loop.hpp"
#include "everseen/redis/wire/redis_url.hpp"
#include "everseen/redis/wire/reply.hpp"

namespace everseen::redis {

/// One socket to one server, from the greeting (AUTH, SELECT, PING) to the first failure, which ends it.
///
/// Commands are pipelined: they are sent as fast as the server takes them, and replies are read meanwhile.
/// The connection fails if no byte moves in either direction for `timeout` while replies are missing.
class connection final : private byte_stream::user {
 public:
  class user {
   public:
    /// The replies to the oldest unanswered post.
    virtual void answered(std::vector<reply> replies) = 0;
    /// It has failed and must be destroyed now.
    virtual void failed(const failure& why) = 0;

   protected:
    ~user() = default;
  };

  /// Whether the connection before this one was lost. Then the link may carry little before it is cut again,
  /// and what is sent together would be lost together. So one post is sent, and with each answer one more may
  /// be under way.
  enum class start : bool { fast, slow };
  /// Begins to connect.
  /// @param url, tls, serves  must live as long as the connection; tls null: not encrypted
  connection(event_loop& loop, const endpoint& where, const redis_url& url, const tls_context* tls,
             user& serves, start first);

  /// Sends commands. They are sent and answered in the order of the calls.
  /// @pre wire stays until it is answered or the connection is destroyed; commands > 0
  void post(std::string_view wire, std::size_t commands);

  /// The number of posts, counted from the last, of which no byte can have reached the server.
  [[nodiscard]] std::size_t untouched() const noexcept { return posts_.size() - touched_; }

 private:
  struct outgoing {
    std::string_view wire;
    std::size_t commands;
  };
  using clock = std::chrono::steady_clock;

  std::size_t fill(std::span<char> room) override;
  void received(std::string_view bytes) override;
  void wrote() override { last_progress_ = clock::now(); }
  void broke(const failure& why) override;

  void greet(const redis_url& url);
  [[nodiscard]] std::string scheme(bool tls) const;
  bool accept(reply r);
  bool accept_greeting(const reply& r);
  bool refuse_greeting(const reply& r);
  void watch();
  void check_progress();
  bool fail(const std::string& problem, bool permanent = false);

  endpoint where_;
  const redis_url& url_;
  connection::user& user_;
  std::string greeting_{};
  std::size_t greetings_left_ = 0;
  std::string_view greeting_left_{};
  std::deque<outgoing> posts_{};   // not answered yet, oldest first
  std::size_t most_under_way_;     // posts that are sent before the oldest is answered
  std::size_t touched_ = 0;        // this many of them were sent in whole or in part,
  std::string_view being_sent_{};  // and this part of the last one is not yet sent
  std::vector<reply> replies_{};   // to the oldest post
  reply_reader reader_{};
  clock::time_point last_progress_ = clock::now();
  bool open_ = false;
  timer deadline_;
  byte_stream stream_;
};

}  // namespace everseen::redis
