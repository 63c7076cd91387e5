#include "experiments/commands/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/name_table.h"
#include "experiments/config/config.h"
#include "experiments/files/shipped.h"

namespace saccade {
namespace {

using Words = std::vector<std::string>;

Words command_names(std::span<const Command> commands) {
  Words names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

bool takes(const Command& command, const std::string& option) {
  return std::ranges::any_of(command.options, [&](const Option& o) { return o.name == option; });
}

Words dashed_options(const Command& command) {
  Words names = {"--help"};
  for (const Option& option : command.options)
    if (option.name.starts_with("--")) names.push_back(option.name);
  return names;
}

// Returns the other words that may follow a command: settings and named things.
Words other_words(const Command& command) {
  Words words;
  if (takes(command, kConfigOption) || takes(command, "study")) words = shipped_experiments();
  if (takes(command, "run_dir") || takes(command, "run_dirs") || takes(command, "folders"))
    words = shipped_agents();
  if (takes(command, kOverridesOption))
    for (const std::string& key : setting_keys()) words.push_back(key + "=");
  if (command.name == "settings") words = setting_keys();
  if (command.name == "completion") words = shells();
  return words;
}

std::string for_bash(std::span<const Command> commands) {
  std::string cases;
  for (const Command& command : commands)
    cases +=
        fmt::format("    {}) words=\"{} {}\" ;;\n", command.name,
                    fmt::join(dashed_options(command), " "), fmt::join(other_words(command), " "));
  return fmt::format(
      R"(# bash completion of saccade: source it, or put it where bash-completion looks.
_saccade() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{} --help --version"
  else
    case ${{COMP_WORDS[1]}} in
{}    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
  case ${{COMPREPLY[0]}} in *=) compopt -o nospace ;; esac
}}
complete -o filenames -F _saccade saccade
)",
      fmt::join(command_names(commands), " "), cases);
}

// Quotes text in single quotes for zsh and fish.
std::string quoted(std::string text, const std::string& apostrophe) {
  for (std::size_t at = 0; (at = text.find('\'', at)) != std::string::npos; at += apostrophe.size())
    text.replace(at, 1, apostrophe);
  return text;
}

std::string for_zsh(std::span<const Command> commands) {
  const auto described = [](const std::string& name, const std::string& about) {
    return fmt::format("'{}:{}'", name, quoted(about, "'\\''"));
  };
  std::string names, cases;
  for (const Command& command : commands) {
    names += "    " + described(command.name, command.about) + "\n";
    cases += fmt::format("    {})\n      options=(\n", command.name);
    for (const Option& option : command.options)
      if (option.name.starts_with("--"))
        cases += "        " + described(option.name, option.about) + "\n";
    cases +=
        fmt::format("      )\n      words=({})\n      ;;\n", fmt::join(other_words(command), " "));
  }
  return fmt::format(R"(#compdef saccade
# zsh completion of saccade: put it into a folder of $fpath as _saccade.
_saccade() {{
  local -a commands options words
  commands=(
{})
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
{}  esac
  _describe option options
  compadd -S '' -- ${{(M)words:#*=}}
  compadd -- ${{words:#*=}}
  _files
}}
_saccade "$@"
)",
                     names, cases);
}

std::string for_fish(std::span<const Command> commands) {
  std::string script =
      "# fish completion of saccade: put it into ~/.config/fish/completions/saccade.fish.\n";
  for (const Command& command : commands) {
    script += fmt::format("complete -c saccade -n __fish_use_subcommand -a {} -d '{}'\n",
                          command.name, quoted(command.about, "\\'"));
    const std::string behind =
        fmt::format("complete -c saccade -n '__fish_seen_subcommand_from {}'", command.name);
    for (const Option& option : command.options)
      if (option.name.starts_with("--"))
        script += fmt::format("{} -l {} -d '{}'\n", behind, option.name.substr(2),
                              quoted(option.about, "\\'"));
    if (const Words words = other_words(command); !words.empty())
      script += fmt::format("{} -a '{}'\n", behind, fmt::join(words, " "));
  }
  return script;
}

const NameTable<std::string (*)(std::span<const Command>)>& table() {
  static const NameTable<std::string (*)(std::span<const Command>)> shells{
      "shell", {{"bash", for_bash}, {"zsh", for_zsh}, {"fish", for_fish}}};
  return shells;
}

}  // namespace

std::vector<std::string> shells() { return table().names(); }

std::string completion(const std::string& shell, std::span<const Command> commands) {
  return table().at(shell)(commands);
}

Command completion_command() {
  const auto shell = std::make_shared<std::string>();
  return {.name = "completion",
          .group = "The shell",
          .about = "Print the completion of a shell: bash, zsh or fish",
          .options = {{"shell", shell.get(), "bash, zsh, fish", Option::kRequired}},
          .call =
              [shell](const Call&) {
                say(completion(*shell, commands()));
                return Ending::done;
              },
          .examples = {"source <(saccade completion bash)",
                       "saccade completion fish > ~/.config/fish/completions/saccade.fish"}};
}

}  // namespace saccade
