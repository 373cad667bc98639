#include <string>
#include <vector>

#include "everseen/core/base/error.hpp"
#include "everseen/serve/base/command.hpp"
#include "everseen/serve/commands/key_type.hpp"
#include "everseen/serve/resp/session.hpp"
#include "everseen/serve/service/service.hpp"

/// Commands about keys of any type; here every key is a filter.
namespace everseen::serve {

namespace {

void del(call& c) {
  std::int64_t dropped = 0;
  for (const std::string_view key : c.words.subspan(1)) dropped += c.all.drop(key) ? 1 : 0;
  c.reply.integer(dropped);
}

void exists(call& c) {
  std::int64_t found = 0;
  for (const std::string_view key : c.words.subspan(1)) found += c.all.filters().exists(key) ? 1 : 0;
  c.reply.integer(found);
}

void type(call& c) {
  c.reply.status(c.all.filters().exists(c.words[1]) ? type_name : "none");
}

/// A filter that cannot be dropped now does not stop the others.
void flush(call& c) {
  const word_list modifiers = c.words.subspan(1);
  if (modifiers.size() > 1 ||
      (modifiers.size() == 1 && !is_word(modifiers[0], "ASYNC") && !is_word(modifiers[0], "SYNC")))
    throw syntax_error();
  std::size_t left = 0;
  std::string why;
  c.all.loads().forget_all();
  for (const std::string& name : c.all.filters().keys()) try {
      c.all.filters().drop(name);
    } catch (const no_filter&) {
      // Another client has dropped it.
    } catch (const error& fault) {
      if (left++ == 0) why = fault.what();
    }
  if (left > 0) throw refusal{"ERR " + std::to_string(left) + " filters are left; the first because " + why};
  c.reply.ok();
}

/// @return false  the new key exists, and must stay
bool rename(call& c, store::namesake there) {
  try {
    c.all.filters().rename(c.words[1], c.words[2], there);
    return true;
  } catch (const name_taken&) {
    return false;
  } catch (const no_filter&) {
    throw refusal{"ERR no such key"};
  }
}

void rename_over(call& c) {
  if (!rename(c, store::namesake::replace))
    throw refusal{"ERR another client has created a filter of that key"};
  c.reply.ok();
}

void rename_if_free(call& c) {
  c.reply.integer(rename(c, store::namesake::refuse) ? 1 : 0);
}

constexpr command::key_positions first_two{1, 2, 1};

}  // namespace

std::span<const command> key_commands() {
  static constexpr command commands[] = {
      {"DEL", -2, right::write, runs::on_worker, every_word, del},
      {"EXISTS", -2, right::read, runs::on_worker, every_word, exists},
      {"FLUSHALL", -1, right::admin, runs::on_worker, no_keys, flush},
      {"FLUSHDB", -1, right::admin, runs::on_worker, no_keys, flush},
      {"RENAME", 3, right::write, runs::on_worker, first_two, rename_over},
      {"RENAMENX", 3, right::write, runs::on_worker, first_two, rename_if_free},
      {"TYPE", 2, right::read, runs::on_worker, first_word, type},
      {"UNLINK", -2, right::write, runs::on_worker, every_word, del},
  };
  return commands;
}

}  // namespace everseen::serve
