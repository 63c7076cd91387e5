#include "experiments/commands/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>  // only here: slow to compile
#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/error.h"
#include "base/printable.h"
#include "experiments/config/config.h"
#include "experiments/config/setting_names.h"
#include "experiments/runs/build_facts.h"

namespace saccade {
namespace {

// Rejects what the library would accept as a number near 2^64.
std::string fault_of_natural_number(const std::string& text) {
  const bool natural = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return natural ? "" : fmt::format("'{}'; allowed: an integer from 0 on", text);
}

// Of an option with a range, whose fault the library words as one of the range alone.
CLI::Validator integer_in(const Range& range) {
  return {
      [range](const std::string& text) -> std::string {
        int number = 0;
        const char* end = text.data() + text.size();
        const auto [rest, fault] = std::from_chars(text.data(), end, number);
        if (fault == std::errc() && rest == end && range.least <= number && number <= range.most)
          return "";
        return fmt::format("'{}'; allowed: an integer from {} to {}", text, range.least,
                           range.most);
      },
      fmt::format("INT in [{} - {}]", range.least, range.most)};
}

// The library would take an empty text for an option that is not given.
std::string fault_of_number(const std::string& text) {
  std::string number = text;
  const bool fits = !text.empty() && CLI::Number(number).empty();
  return fits ? "" : fmt::format("'{}'; allowed: a number", text);
}

std::string fault_of_text(const std::string& text) {
  return text.empty() ? "''; allowed: anything but nothing" : "";
}

void add(CLI::App& app, const Option& option) {
  std::visit(
      [&](auto* value) {
        if constexpr (std::is_same_v<decltype(value), bool*>) {
          app.add_flag(option.name, *value, option.about);
        } else {
          CLI::Option* added = app.add_option(option.name, *value, option.about);
          if (const Range* range = std::get_if<Range>(&option.bound))
            added->check(integer_in(*range));
          else if (std::get<Option::Need>(option.bound) == Option::kRequired)
            added->required();
          using Value = std::remove_pointer_t<decltype(value)>;
          if constexpr (std::is_same_v<Value, std::optional<std::uint64_t>>)
            added->check(fault_of_natural_number);
          if constexpr (std::is_same_v<Value, double> ||
                        std::is_same_v<Value, std::optional<double>>)
            added->check(fault_of_number);
          if constexpr (std::is_same_v<Value, std::string> ||
                        std::is_same_v<Value, std::filesystem::path> ||
                        std::is_same_v<Value, std::vector<std::filesystem::path>>)
            added->check(fault_of_text);
        }
      },
      option.value);
}

std::string or_nothing(const std::optional<std::string>& meant) {
  return meant ? fmt::format("; did you mean '{}'?", *meant) : "";
}

// Returns the error for an unknown option: the proper syntax if it is a setting, otherwise the
// nearest option.
std::string option_fault(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(2, word.find('=') - 2);
  std::vector<std::string> options = {"help"};
  bool takes_settings = false;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_lnames().empty()) options.push_back(option->get_lnames()[0]);
    takes_settings = takes_settings || option->get_name() == kOverridesOption;
  }
  const std::optional<std::string> nearest = nearest_word(name, options);
  const std::optional<std::string> key = meant_key(name, setting_keys());
  std::string hint;
  if (key && takes_settings)
    hint = fmt::format("; a setting goes without dashes: {}=...", *key);
  else if (nearest)
    hint = or_nothing("--" + *nearest);
  return fmt::format("--{} is not an option of {}{}", name, command.get_name(), hint);
}

// Names used by other programs.
constexpr std::pair<const char*, const char*> kOtherNames[] = {
    {"train", "run"},    {"fit", "run"},          {"test", "eval"},   {"evaluate", "eval"},
    {"film", "record"},  {"video", "record"},     {"serve", "watch"}, {"report", "compare"},
    {"plot", "compare"}, {"download", "data"},    {"speed", "bench"}, {"list", "presets"},
    {"sweep", "run"},    {"explain", "saliency"}, {"manual", "man"}};

std::optional<std::string> meant_command(const std::string& word,
                                         const std::vector<std::string>& names) {
  for (const auto& [other, command] : kOtherNames)
    if (word == other) return command;
  return nearest_word(word, names);
}

std::string command_fault(const std::string& word, const std::vector<std::string>& names) {
  return fmt::format("unknown command '{}'{}; allowed: {}", word,
                     or_nothing(meant_command(word, names)), fmt::join(names, ", "));
}

// Returns the usage error; an unknown command lists the valid ones.
std::string usage_fault(const CLI::App& app, const CLI::ParseError& error) {
  if (const std::vector<CLI::App*> chosen = app.get_subcommands(); !chosen.empty()) {
    for (const std::string& word : chosen[0]->remaining())
      if (word.starts_with("--") && word.size() > 2) return option_fault(*chosen[0], word);
    const std::string fault = error.what();
    const std::size_t end = fault.find(':');
    return fault.ends_with(" missing") && end != std::string::npos
               ? fault.substr(0, end) + ": without a value"
               : fault;
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  const std::vector<std::string> words = app.remaining();
  if (words.empty()) return fmt::format("no command; allowed: {}", fmt::join(names, ", "));
  return command_fault(words[0], names);
}

std::string version_text() {
  std::string text;
  for (const auto& [name, value] : build_facts())
    text += fmt::format("{}{:<18}{}", text.empty() ? "" : "\n", name, value);
  return text;
}

constexpr const char* kFirstSteps =
    "First steps:\n"
    "  saccade record quickstart --out looks.mp4   record a shipped agent\n"
    "  saccade run quickstart                      train one, in half a minute\n"
    "  saccade help run                            the options of a command";

// Turns `help` and an empty line into --help, and `help run` into `run --help`.
std::vector<std::string> without_help_command(std::vector<std::string> words,
                                              const std::vector<std::string>& names) {
  if (words.empty()) return {"--help"};
  if (words[0] != "help") return words;
  words.erase(words.begin());
  if (!words.empty() && std::ranges::find(names, words[0]) == names.end())
    throw InputError(command_fault(words[0], names));
  words.emplace_back("--help");
  return words;
}

}  // namespace

const Command* read_command_line(std::span<const Command> commands, int argc,
                                 const char* const* argv) {
  CLI::App app{"Saccade: recurrent visual attention, hard and soft.", "saccade"};
  app.set_version_flag("--version", version_text(), "Print what the program was made of, and exit");
  app.require_subcommand(1);
  app.footer(kFirstSteps);
  std::vector<std::string> names;
  for (const Command& command : commands) {
    names.push_back(command.name);
    CLI::App* added = app.add_subcommand(command.name, command.about)->group(command.group);
    for (const Option& option : command.options) add(*added, option);
    if (!command.examples.empty())
      added->footer(fmt::format("Examples:\n  {}", fmt::join(command.examples, "\n  ")));
  }
  // The program's own help lines are short, those of the options are not.
  const auto formatter = std::make_shared<CLI::Formatter>();
  formatter->column_width(14);
  formatter->label("SUBCOMMAND", "COMMAND");
  app.formatter(formatter);
  std::vector<std::string> words = without_help_command({argv + 1, argv + argc}, names);
  std::ranges::reverse(words);  // the order that CLI11 expects
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0)
      throw InputError(fmt::format("{}; --help says more", usage_fault(app, error)));
    app.exit(error);  // prints the help
    return nullptr;
  }
  for (const Command& command : commands)
    if (app.got_subcommand(command.name)) return &command;
  return nullptr;
}

std::string typed(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i > 0 ? " " : "") + shell_word(argv[i]);
  return line;
}

}  // namespace saccade
