#include "experiments/commands/manual.h"

#include <fmt/format.h>

#include "experiments/config/settings.h"
#include "experiments/runs/build_facts.h"

namespace saccade {
namespace {

// Text that roff takes for text.
std::string roff(const std::string& text) {
  std::string plain;
  for (const char c : text) plain += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return plain.starts_with('.') || plain.starts_with('\'') ? "\\&" + plain : plain;
}

std::string placeholder(const Option& option) {
  if (std::holds_alternative<bool*>(option.value)) return "";
  return option.name.starts_with("--") ? " \\fIvalue\\fR" : "";
}

std::string section_of(const Command& command) {
  std::string usage;
  for (const Option& option : command.options)
    if (!option.name.starts_with("--")) usage += " \\fI" + roff(option.name) + "\\fR";
  std::string text =
      fmt::format(".SS {}{} [\\fIoptions\\fR]\n{}.\n", command.name, usage, roff(command.about));
  for (const Option& option : command.options)
    text += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option.name), placeholder(option),
                        roff(option.about));
  if (!command.examples.empty()) text += ".PP\nExamples:\n.PP\n.nf\n";
  for (const std::string& example : command.examples) text += "    " + roff(example) + "\n";
  return text + (command.examples.empty() ? "" : ".fi\n");
}

}  // namespace

std::string manual(std::span<const Command> commands) {
  std::string text = fmt::format(
      ".TH SACCADE 1 \"\" \"saccade {}\" \"User commands\"\n.SH NAME\n"
      "saccade \\- recurrent visual attention, hard and soft\n.SH SYNOPSIS\n"
      ".B saccade\n\\fIcommand\\fR [\\fIarguments\\fR]\n.SH DESCRIPTION\n"
      "Trains, tests, records and compares agents that see a large image only through a small "
      "glimpse, move it a few times, and say what is there.\n.SH COMMANDS\n",
      roff(version()));
  for (const Command& command : commands) text += section_of(command);
  text += ".SH SETTINGS\nWhat the file of an experiment says, or key.path=value over it.\n";
  for (const Setting& setting : settings())
    text += fmt::format(".TP\n\\fB{}\\fR ({})\n{}. Allowed: {}.\n", roff(setting.key),
                        roff(value_of(Config(), setting.key)), roff(setting.about),
                        roff(allowed_values(setting)));
  text +=
      ".SH ENVIRONMENT\n.TP\n\\fBSACCADE_DATA\\fR\nWhere digit sets lie, a folder each.\n"
      ".TP\n\\fBXDG_CACHE_HOME\\fR\nThe cache folder; default ~/.cache.\n"
      ".SH EXIT STATUS\n0: done; 1: failed; 2: bad input; 130: stopped by a signal, and saved.\n";
  return text;
}

Command manual_command() {
  return {.name = "man",
          .group = "The shell",
          .about = "Print the manual page",
          .options = {},
          .call =
              [](const Call&) {
                say(manual(commands()));
                return Ending::done;
              },
          .examples = {"saccade man | man -l -", "saccade man > saccade.1"}};
}

}  // namespace saccade
