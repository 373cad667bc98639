#include "everseen/redis/jobs.hpp"

#include "everseen/core/lane_record.hpp"
#include "everseen/redis/claim_scripts.hpp"
#include "everseen/redis/random_name.hpp"
#include "everseen/redis/refusal.hpp"
#include "everseen/redis/upkeep.hpp"
#include "everseen/store/store.hpp"

namespace everseen::redis {

namespace {

constexpr std::size_t word_length = 32;

std::string with_word(std::string_view description) {
  return std::string(description) + '\0' + random_name();
}

std::string end_of(const remote_filter& f) {
  return f.ends_at ? to_text(*f.ends_at) : "";
}

std::string call(const script& s, std::span<const std::string> keys, std::span<const std::string> arguments) {
  const std::string count = std::to_string(keys.size());
  std::vector<std::string_view> words = {"EVAL", s.text, count};
  words.insert(words.end(), keys.begin(), keys.end());
  words.insert(words.end(), arguments.begin(), arguments.end());
  return encode(words);
}

/// @throws format_error  the key has another type    @throws backend_error
reply checked(const answer& a, const std::string& key) {
  if (!a) throw backend_error(a.error().message);
  const reply& r = a->back();
  if (r.is_error() && r.text().find("WRONGTYPE") != std::string_view::npos)
    throw damaged_key(key, "has another type");
  if (forbids_scripts(r))
    throw backend_error("the Redis server forbids scripts (EVAL), and a job needs them");
  if (r.is_error()) throw backend_error(refused_command(key, r.text()));
  return r;
}

reply run(session& with, const script& s, std::span<const std::string> keys,
          std::span<const std::string> arguments) {
  const request r{{keys.front(), 0}, call(s, keys, arguments), 1, true};
  return checked(with.exchange(std::span(&r, 1)).front(), keys.front());
}

parameter_error being_ended(const std::string& filter, std::string_view job) {
  return parameter_error("the job '" + std::string(job) + "' of '" + filter +
                         "' is being ended; if who did so has died, finish it: everseen jobs " + filter +
                         " --end " + std::string(job));
}

/// Why a filter cannot get a job.
[[noreturn]] void refuse_job(session& with, const catalogue& names, const remote_filter& f) {
  const std::string& name = f.keys.name();
  const header now = names.read_header(with, name);
  if (now.live.generation != f.generation)
    throw parameter_error("the filter '" + name + "' was made anew since it was opened; open it again");
  if (now.linked)
    throw parameter_error(
        "'" + name + "' asks '" + now.linked->name +
        "' first, and a job needs a filter that judges alone; unlink it: everseen link --off " + name +
        ", or give the job a filter of its own");
  if (now.live.ends_at != f.ends_at || now.next_end)
    throw parameter_error("the filter '" + name +
                          "' was given another end since it was opened; open it again");
  throw parameter_error("the filter '" + name +
                        "' is being rebuilt or renamed; open the job when that is done");
}

}  // namespace

std::string_view description_in(std::string_view kept) {
  const bool has_word = kept.size() > word_length && kept[kept.size() - word_length - 1] == '\0';
  return has_word ? kept.substr(0, kept.size() - word_length - 1) : kept;
}

std::string open_job(session& with, const catalogue& names, const remote_filter& f, std::string_view job,
                     std::string_view description) {
  const auto note_that_there_are_jobs = [&] {
    if (!change_header(with, f.keys.header(),
                       {{"generation", std::to_string(f.generation)},
                        {"ready", std::string(ready)},
                        {"next", ""},
                        {"ends_at", end_of(f)},
                        {"ends_next", ""},
                        {"moves_to", ""},
                        {"link", ""}},
                       {{"jobs", "1"}}))
      refuse_job(with, names, f);
  };
  note_that_there_are_jobs();
  const std::string keys[] = {f.keys.jobs(f.generation)};
  const std::string arguments[] = {std::string(job), with_word(description), end_of(f)};
  const reply opened = run(with, scripts::open_job(), keys, arguments);
  if (opened.is_nil()) throw being_ended(f.keys.name(), job);
  std::string kept(opened.text());
  note_that_there_are_jobs();  // who ended the last one may have taken it back in between
  // Who drops a filter hides its header before he removes its jobs.
  if (!names.is_ready(with, f.keys.name())) {
    unlink_jobs(with, f);
    refuse_job(with, names, f);
  }
  return kept;
}

std::map<std::string, std::string, std::less<>> jobs_of(session& with, const remote_filter& f) {
  const std::string key = f.keys.jobs(f.generation);
  const reply fields = ask_about(with, {key, 0}, {"HGETALL", key});
  std::map<std::string, std::string, std::less<>> all;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    std::string_view name = fields[i].text();
    if (name.ends_with('!')) name.remove_suffix(1);
    all.emplace(name, fields[i + 1].text());
  }
  return all;
}

void require_no_jobs(session& with, const header& h, std::string_view what) {
  if (!h.has_jobs) return;
  std::vector<std::string> names;
  for (const auto& [job, description] : jobs_of(with, h.live)) names.push_back(job);
  everseen::require_no_jobs(h.live.keys.name(), names, what);
  // Who began the only one has died before it was listed.
  change_header(with, h.live.keys.header(),
                {{"generation", std::to_string(h.live.generation)}, {"jobs", "1"}}, {{"jobs", ""}});
}

bool put_down(session& with, const remote_filter& f, std::string_view job, std::string_view kept,
              std::span<const checkpoint> reached) {
  if (reached.empty()) return true;
  const std::string keys[] = {f.keys.jobs(f.generation), f.keys.checkpoints(f.generation, job)};
  std::vector<std::string> arguments = {std::string(job), std::string(kept), end_of(f)};
  for (const checkpoint& c : reached) {
    std::string value;
    append_position(value, c.position);
    std::string from;
    if (c.from) append_position(from, *c.from);
    arguments.insert(arguments.end(), {c.source, value + c.note, from});
  }
  const route to{keys[0], 0};
  request r{to, call(scripts::put_down(), keys, arguments), 1, true};
  r.on_replicas = true;
  const answer a = std::move(with.exchange(std::span(&r, 1)).front());
  const std::int64_t told = checked(a, keys[1]).integer();
  if (told == 0) throw is_gone(f, job);
  return told == 1;
}

storage_error is_gone(const remote_filter& f, std::string_view job) {
  return {"the job '" + std::string(job) + "' is not there any more: it was ended, or the filter '" +
              f.keys.name() + "' was dropped, or its server lost it",
          0, f.keys.jobs(f.generation)};
}

bool is_listed(session& with, const remote_filter& f, std::string_view job, std::string_view kept) {
  const std::string key = f.keys.jobs(f.generation);
  const reply now = ask_about(with, {key, 0}, {"HGET", key, job});
  return !now.is_nil() && now.text() == kept;
}

std::map<std::string, checkpoint, std::less<>> checkpoints_at(session& with, const std::string& key) {
  const reply fields = ask_about(with, {key, 0}, {"HGETALL", key});
  std::map<std::string, checkpoint, std::less<>> all;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const std::string lane(fields[i].text());
    const reply value = fields[i + 1];
    if (value.text().size() < position_bytes) throw damaged_key(key, "has a checkpoint of the wrong length");
    all[lane] = {lane, position_in(value.text()), std::string(value.text().substr(position_bytes))};
  }
  return all;
}

std::map<std::string, checkpoint, std::less<>> checkpoints_of(session& with, const remote_filter& f,
                                                              std::string_view job) {
  return checkpoints_at(with, f.keys.checkpoints(f.generation, job));
}

/// The list goes last: by it another drop finds what this one left.
void unlink_jobs(session& with, const remote_filter& f) {
  const std::string list = f.keys.jobs(f.generation);
  for (const auto& [job, description] : jobs_of(with, f)) {
    const std::string key = f.keys.checkpoints(f.generation, job);
    (void)with.ask({key, 0}, {"UNLINK", key}, true);
  }
  (void)with.ask({list, 0}, {"UNLINK", list}, true);
}

}  // namespace everseen::redis
