#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "everseen/core/predecessor.hpp"
#include "everseen/redis/attachment.hpp"
#include "everseen/redis/remote_partition.hpp"
#include "everseen/redis/server_order.hpp"
#include "everseen/redis/session.hpp"

namespace everseen::redis {

/// What a filter's header says.
struct header {
  /// It is to get another name, unless that is given up: doc/format.md, "Renaming".
  struct move {
    std::string to;
    event_time until;  ///< by the clock of the servers; not done by then, it will not be
  };
  /// All its keys are to end then.
  struct ending {
    std::optional<event_time> when;  ///< nothing: never
  };

  remote_filter live;                   ///< the generation in use
  std::optional<remote_filter> next{};  ///< the one that is to replace it, while the filter is rebuilt
  bool next_is_ready = false;           ///< it holds all that it must, so partitions begin to close
  /// The filter is another program's: it has no partitions, and of `live` no more than names and spec count.
  std::optional<attachment> attached{};

  std::optional<predecessor>
      linked{};             ///< the filter to ask first, until some time by the clock of the server
  bool has_jobs = false;    ///< it has ledgers, so its generation stays
  std::string linked_by{};  ///< the filter that asks this one first, unless it no longer does; empty: none
  std::optional<move> moves{};
  std::string came_from{};  ///< the name that it had, while not all is done that a renaming takes; else empty
  std::string replaces{};   ///< meanwhile, the filter whose name it got, for replaced_filter(); empty: none
  std::optional<ending> next_end{};
  std::uint64_t end_number = 0;  ///< one more with each end that it was given
};

/// The names under a prefix and where each of them leads: the index, the ends, and the headers of
/// doc/format.md, "In Redis".
///
/// A name whose header is missing may be three things: free, the name of a filter that has ended as it was
/// told to, or damage. The index tells them apart.
class catalogue {
 public:
  explicit catalogue(const redis_url& url) : prefix_(url.prefix), order_(url) {}

  [[nodiscard]] key_names keys_of(std::string_view name) const { return {prefix_, name}; }

  /// Writes a filter into the index. Once is enough; again does no harm.
  ///
  /// Whoever drops a filter hides its header, then takes the name off, then removes the header; so a name
  /// that is written too late sees that its filter is on its way out.
  /// @return false  it was dropped meanwhile; the index is as it was
  [[nodiscard]] bool list(session& with, const remote_filter& f) const;
  /// The same for whatever filter has the name now, if there is one.
  void list_again(session& with, std::string_view name) const;
  void unlist(session& with, std::string_view name) const;

  enum class listing : std::uint8_t { none, listed, ended };
  /// What the index says of a name.
  [[nodiscard]] listing look_up(session& with, std::string_view name) const;

  [[nodiscard]] bool has_header(session& with, std::string_view name) const;
  /// Whether the filter with this id has another name by now.
  [[nodiscard]] bool has_moved(session& with, std::string_view id, std::string_view to) const;
  /// Which name the filter has that has left this one, if its header is still there; empty: none.
  [[nodiscard]] std::string moved_to(session& with, std::string_view name) const;

  /// Whether there is a filter of this name that may be used.
  [[nodiscard]] bool is_ready(session& with, std::string_view name) const;
  /// Whether the name is listed or has a sign, has not ended, and has no header: that is damage.
  [[nodiscard]] bool is_lost(session& with, std::string_view name) const;

  /// Asks all servers for their places in the filter of this name. Who does not answer is passed over.
  /// @return whether a server beside the first has a sign of it, for good
  /// @throws parameter_error  they are other ones, or in another order: server_order
  bool require_order(session& with, std::string_view name) const;
  /// Asks all servers but the first for their signs of a filter that cannot do without.
  /// @throws format_error     a server has none, so it has lost its data    @throws parameter_error  as above
  /// @throws backend_error    a server does not answer
  void require_signs(session& with, std::string_view name) const;
  /// Puts up the signs of a new filter, on all servers but the first. Those of servers that do not take them
  /// are missing then, and so is the error for who names that server first.
  void put_up_signs(session& with, const remote_filter& f) const;
  /// The same of a filter that cannot do without: all, or an error and maybe some of them.
  /// @throws backend_error  a server does not answer, or takes none    @throws name_taken
  void put_up_all_signs(session& with, const remote_filter& f) const;
  /// Lets the signs of a filter end when it does.    @throws backend_error  no answer, or a refusal
  void end_signs(session& with, const remote_filter& f) const;
  /// @throws backend_error  no answer, or a refusal
  void take_down_signs(session& with, std::string_view name) const;
  /// Only those of the filter with this id.    @throws backend_error  no answer, or a refusal
  void take_down_signs_of(session& with, std::string_view name, const std::string& id) const;
  /// What the header of a new filter says beside its own fields.
  [[nodiscard]] std::vector<std::string> place_fields() const { return order_.fields(0); }
  /// @throws name_taken       @throws parameter_error  as require_order
  /// @throws format_error     it is that of a filter which was lost: to begin anew would call everything
  ///                          fresh that it had seen
  void require_free(session& with, std::string_view name) const;

  /// All names in the index, in no order; some may lead nowhere.
  [[nodiscard]] std::vector<std::string> names(session& with) const;

  /// @throws parameter_error  it was made through other servers, or the same in another order
  /// @throws no_filter        there is no filter of this name; filter_ended: not any more
  /// @throws format_error     its header is damaged, or missing though it is listed
  /// @throws storage_error    it is being dropped
  [[nodiscard]] header read_header(session& with, std::string_view name) const;
  [[nodiscard]] remote_filter read(session& with, std::string_view name) const {
    return read_header(with, name).live;
  }

  /// The same of a filter that is on its way out.
  /// @throws format_error  it is damaged
  [[nodiscard]] header decode(std::string_view name, const reply& fields) const;
  /// What decode() wants to know.
  /// @throws parameter_error  as read_header
  [[nodiscard]] reply header_of(session& with, std::string_view name) const;

  /// The time by the clock of the server that has a key. Clocks of other servers are taken to agree.
  [[nodiscard]] static event_time server_time(session& with, const std::string& key);

 private:
  [[nodiscard]] std::string index() const { return key_names::index(prefix_); }
  [[nodiscard]] std::string ends() const { return key_names::ends(prefix_); }

  void put_up_sign(session& with, const remote_filter& f, std::uint32_t place) const;

  std::string prefix_;
  server_order order_;
};

/// What the field `ready` holds in the header of a filter that may be used.
inline constexpr std::string_view ready = "1";
/// What the field `ends_next` holds where there is to be no end.
inline constexpr std::string_view never = "never";

}  // namespace everseen::redis
