#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "everseen/core/error.hpp"
#include "everseen/redis/jobs.hpp"
#include "everseen/redis/renaming.hpp"
#include "everseen/redis/upkeep.hpp"

/// What is left of a renaming once the filter has its new name. Several may do it at once, and one of them
/// may be so slow that the filter has been renamed back or on meanwhile, or dropped: each step proves that
/// what it changes is still of this renaming, or puts right what it should not have done.
namespace everseen::redis {

namespace {

std::string id_text(const remote_filter& f) {
  return {reinterpret_cast<const char*>(f.id.data()), f.id.size()};
}

/// What the header under the new name says of its way there. No two renamings of a filter have the same.
struct arrival {
  std::string from;
  std::string until;        ///< as `moves_until` of the old header
  std::string replaces;     ///< as header::replaces
  std::string replaced_id;  ///< of that filter; empty: none

  bool operator==(const arrival&) const = default;
};

/// @return nothing if it is not this filter's, or all is done
std::optional<arrival> arrival_of(session& with, const remote_filter& f) {
  const std::string key = f.keys.header();
  const reply said =
      ask_about(with, {key, 0}, {"HMGET", key, "id", "came_from", "came_until", "replaces", "replaced_id"});
  if (said[0].text() != id_text(f) || said[1].is_nil()) return std::nullopt;
  const auto text = [&](std::size_t i) { return std::string(said[i].text()); };
  return arrival{text(1), text(2), text(3), text(4)};
}

/// From the note that note_of() in renaming.cpp made: "generation partitions jobs name".
/// @return nothing that makes sense
std::optional<header> replaced_filter(const catalogue& names, const std::string& note) {
  std::uint64_t generation = 0;
  std::uint32_t partitions = 0;
  const char* const end = note.data() + note.size();
  auto at = std::from_chars(note.data(), end, generation);
  if (at.ec != std::errc{} || at.ptr == end) return std::nullopt;
  at = std::from_chars(at.ptr + 1, end, partitions);
  if (at.ec != std::errc{} || partitions > max_partitions || end - at.ptr < 4) return std::nullopt;
  header gone{{.keys = names.keys_of(std::string_view(at.ptr + 3, end)), .spec = {}}};
  gone.live.generation = generation;
  gone.live.spec.partitions = partitions;
  gone.has_jobs = at.ptr[1] == '1';
  return gone;
}

void remove_replaced(session& with, const catalogue& names, const std::string& note) {
  if (note.empty()) return;
  const auto gone = replaced_filter(names, note);
  if (!gone) return;  // nobody can find its keys any more
  unlink_partitions(with, gone->live);
  if (gone->has_jobs) unlink_jobs(with, gone->live);
}

/// A sign without a header is damage, so who finds that the filter has gone on takes it down again.
void put_up_signs(session& with, const catalogue& names, const remote_filter& f) {
  names.put_up_signs(with, f);
  const std::string& name = f.keys.name();
  if (!names.is_ready(with, name) || !names.has_moved(with, id_text(f), name))
    names.take_down_signs_of(with, name, id_text(f));
}

/// For whatever filter has the name now: it may have lost its entry to who was late.
void list_again(session& with, const catalogue& names, std::string_view name) {
  names.list_again(with, name);
  try {
    if (names.is_ready(with, name)) put_up_signs(with, names, names.read(with, name));
  } catch (const error&) {
    // It went again, or cannot be read.
  }
}

/// Frees the old name. The old header goes last: until then nobody can take its name. One that came there
/// again has not this mark, so it stays.
void free_old_name(session& with, const catalogue& names, const remote_filter& f, const arrival& a) {
  const std::string key = names.keys_of(a.from).header();
  const header_fields left = {{"id", id_text(f)}, {"moves_to", f.keys.name()}, {"moves_until", a.until}};
  const reply said = ask_about(with, {key, 0}, {"HMGET", key, "id", "moves_to", "moves_until"});
  for (std::size_t i = 0; i < left.size(); ++i)
    if (said[i].text() != left[i].second) return;
  names.unlist(with, a.from);
  names.take_down_signs_of(with, a.from, id_text(f));
  remove_header_if(with, {key, 0}, left);
  list_again(with, names, a.from);
}

/// The new name is listed first.
void finish(session& with, const catalogue& names, const header& h, const arrival& a) {
  const remote_filter& f = h.live;
  const std::string& to = f.keys.name();
  const auto is_still_so = [&] { return arrival_of(with, f) == a; };
  if (!names.list(with, f)) names.list_again(with, to);
  for (std::uint32_t p = 0; p < f.spec.partitions; ++p)
    if (!call_partition(with, f, p, to, is_still_so)) return;
  free_old_name(with, names, f, a);
  if (!a.replaced_id.empty()) names.take_down_signs_of(with, to, a.replaced_id);
  put_up_signs(with, names, f);
  remove_replaced(with, names, a.replaces);
  (void)change_header(with, f.keys.header(),
                      {{"id", id_text(f)}, {"came_from", a.from}, {"came_until", a.until}},
                      {{"came_from", ""}, {"came_until", ""}, {"replaces", ""}, {"replaced_id", ""}});
}

}  // namespace

void finish_rename(session& with, const catalogue& names, header& h) {
  if (h.came_from.empty()) return;
  if (const auto a = arrival_of(with, h.live)) {
    try {
      finish(with, names, h, *a);
    } catch (const error&) {
      if (arrival_of(with, h.live) == a) throw;  // else somebody has done it, and gone on
    }
  }
  h = names.read_header(with, h.live.keys.name());
}

void finish_rename_from(session& with, const catalogue& names, std::string_view name) {
  const std::string to = names.moved_to(with, name);
  if (to.empty()) return;
  header h = names.read_header(with, to);
  if (h.came_from == name) finish_rename(with, names, h);
}

}  // namespace everseen::redis
