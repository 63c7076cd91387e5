#include "experiments/verbs/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>  // here alone: it takes long to compile
#include <type_traits>

#include "nn/error.h"

namespace saccade {
namespace {

void add(CLI::App& app, const Option& option) {
  std::visit(
      [&](auto* value) {
        if constexpr (std::is_same_v<decltype(value), bool*>) {
          app.add_flag(option.name, *value, option.about);
        } else {
          CLI::Option* added = app.add_option(option.name, *value, option.about);
          if (const Range* range = std::get_if<Range>(&option.bound))
            added->check(CLI::Range(range->least, range->most));
          else if (std::get<Option::Need>(option.bound) == Option::kRequired)
            added->required();
        }
      },
      option.value);
}

// What is wrong with the command line; a verb that is none comes with those there are.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
  if (!app.get_subcommands().empty()) return error.what();
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands(nullptr)) names.push_back(verb->get_name());
  const std::vector<std::string> words = app.remaining();
  return fmt::format("{}; allowed: {}",
                     words.empty() ? "no verb" : fmt::format("'{}' is no verb", words[0]),
                     fmt::join(names, ", "));
}

}  // namespace

const Verb* read_command_line(std::span<const Verb> verbs, int argc, const char* const* argv) {
  CLI::App app{"Saccade: recurrent visual attention, hard and soft.", "saccade"};
  app.require_subcommand(1);
  for (const Verb& verb : verbs) {
    CLI::App* added = app.add_subcommand(verb.name, verb.about);
    for (const Option& option : verb.options) add(*added, option);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0)
      throw InputError(fmt::format("{}; --help says more", usage_fault(app, error)));
    app.exit(error);  // prints the help
    return nullptr;
  }
  for (const Verb& verb : verbs)
    if (app.got_subcommand(verb.name)) return &verb;
  return nullptr;
}

std::string shell_word(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + '\'';
}

std::string typed(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i > 0 ? " " : "") + shell_word(argv[i]);
  return line;
}

}  // namespace saccade
