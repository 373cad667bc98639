#include "everseen/client/server_link.hpp"

#include <span>
#include <utility>

#include "everseen/core/base/error.hpp"
#include "everseen/core/base/names.hpp"
#include "everseen/core/format/chunk_image.hpp"
#include "everseen/redis/wire/command.hpp"
#include "everseen/store/port/store.hpp"
#include "everseen/wire/client_protocol.hpp"

namespace everseen::client {

namespace {

/// The text after the first word, which is the code.
std::string behind_code(std::string_view text) {
  const std::size_t end = text.find(' ');
  return end == text.npos ? "the server gave no reason" : std::string(text.substr(end + 1));
}

constexpr std::string_view may_have_been_done = "; it may have been done";

bool is_about_a_missing_filter(const redis::reply& error) {
  return error.is_error("ERR not found") || error.is_error("ERR not found:") ||
         error.is_error("ERR no such key");
}

}  // namespace

std::exception_ptr exception_of(const redis::reply& error, std::string_view filter) {
  const std::string text(error.text());
  if (is_about_a_missing_filter(error)) return std::make_exception_ptr(no_such_filter(filter));
  if (text == "ERR item exists" || text.starts_with(wire::loaded_key_exists))
    return std::make_exception_ptr(filter_exists(filter));
  if (text == "ERR non scaling filter is full") return std::make_exception_ptr(full_error(behind_code(text)));
  if (error.is_error("ERR")) return std::make_exception_ptr(parameter_error(behind_code(text)));
  if (error.is_error("DAMAGED")) return std::make_exception_ptr(format_error(behind_code(text)));
  if (error.is_error("OUTAGE")) return std::make_exception_ptr(backend_error(behind_code(text)));
  if (error.is_error("GONE"))
    return std::make_exception_ptr(storage_error(
        quoted_name(filter) + ": " + behind_code(text) + "; open it again", 0, std::string(filter)));
  if (error.is_error("NOPERM"))
    return std::make_exception_ptr(
        backend_error("the user of the URL has no right to do this on the server, which answered: " + text));
  if (error.is_error("OOM"))
    return std::make_exception_ptr(storage_error(
        "the server has no more room for filters: " + behind_code(text), 0, std::string(filter)));
  return std::make_exception_ptr(backend_error("everseen serve refused it: " + text));
}

parameter_error not_over_a_server(const std::string& problem) {
  return parameter_error(
      problem +
      " is not possible through everseen serve; run the verb on the store of the server, and stop "
      "the server for that if it is a file: store");
}

redis::reply server_link::ask(std::initializer_list<std::string_view> words, std::string_view filter,
                              repeat again) const {
  const redis::request asked{{}, redis::encode(words), 1, again == repeat::yes};
  auto answers = pool_.take()->exchange(std::span(&asked, 1));
  if (!answers.front()) throw backend_error(answers.front().error().message);
  redis::reply& answer = answers.front()->front();
  if (answer.is_error()) std::rethrow_exception(exception_of(answer, filter));
  return std::move(answer);
}

redis::reply server_link::change(std::initializer_list<std::string_view> words,
                                 std::string_view filter) const {
  const auto connections = pool_.take();
  request_numbering& in = numbering_of(*connections);
  for (bool was_refused = false;; was_refused = true) {
    if (in.session.empty()) begin_session(*connections, in);
    // If no answer comes, the session stays empty, since it is unknown whether its next number is used up.
    request_numbering used = std::exchange(in, {});
    std::string wire;
    redis::begin_command(wire, 3 + words.size());
    redis::append_word(wire, "EVERSEEN.ONCE");
    redis::append_word(wire, used.session);
    redis::append_word(wire, std::to_string(used.next++));
    for (const std::string_view word : words) redis::append_word(wire, word);
    const redis::request asked{{}, std::move(wire), 1, remembered};
    auto answers = connections->exchange(std::span(&asked, 1));
    if (!answers.front()) {
      const redis::outage& why = answers.front().error();
      throw backend_error(why.message + std::string(why.may_have_run ? may_have_been_done : ""));
    }
    redis::reply& answer = answers.front()->front();
    // No answer was lost, or this would be an outage: it was not run.
    if ((answer.is_error("NOSESSION") || answer.is_error("ENDED")) && !was_refused) continue;
    in = std::move(used);
    if (answer.is_error("OUTAGE"))
      throw backend_error(behind_code(answer.text()) + std::string(may_have_been_done));
    if (answer.is_error()) std::rethrow_exception(exception_of(answer, filter));
    return std::move(answer);
  }
}

/// By itself: a command that is sent again together with a numbered one would make a restarted server forget
/// that the latter may have been run. An id that is taken was begun by an attempt whose answer was lost.
void server_link::begin_session(redis::server_connections& connections, request_numbering& in) const {
  for (;;) {
    const std::string id = redis::random_name();
    const std::uint64_t lost_before = connections.lost_answers();
    const redis::request asked{{}, redis::encode({"EVERSEEN.SESSION", id}), 1, true};
    const auto answers = connections.exchange(std::span(&asked, 1));
    if (!answers.front()) throw backend_error(answers.front().error().message);
    const redis::reply& answer = answers.front()->front();
    if (!answer.is_error()) return void(in = {id, 1});
    if (connections.lost_answers() == lost_before) std::rethrow_exception(exception_of(answer, {}));
  }
}

remote_state server_link::state_of(std::string_view filter, std::uint32_t partition) const {
  const redis::reply answer =
      ask({"EVERSEEN.PARTITION", filter, std::to_string(partition)}, filter, repeat::yes);
  const auto header = std::as_bytes(std::span(answer[0].text()));
  if (answer.size() != 3 || !image::is_chunk_header(header)) throw no_answer(filter);
  remote_state state{image::decode_chunk_header(header), std::string(answer[1].text())};
  if (!answer[2].is_nil()) state.expires_at = event_time(std::chrono::milliseconds(answer[2].integer()));
  return state;
}

format_error server_link::no_answer(std::string_view filter) const {
  return format_error(server() + " gave an answer" + (filter.empty() ? "" : " about " + quoted_name(filter)) +
                      " that is none; use programs of one version");
}

request_numbering& server_link::numbering_of(const redis::server_connections& connection) const {
  const std::scoped_lock alone(lock_);
  return numbering_[connection.name()];
}

std::string server_link::server() const {
  return redis::name_of_server(url(), url().endpoints.front());
}

}  // namespace everseen::client
