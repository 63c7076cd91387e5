// The program's descriptions of itself: help, versions, settings, presets, completion, the manual.
#include <doctest/doctest.h>

#include <map>

#include "experiments/commands/command.h"
#include "experiments/config/config.h"
#include "experiments/runs/build_facts.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"

namespace saccade {

using Result = Program::Result;

TEST_CASE("--help exits with 0 and lists the commands") {
  const TemporaryFolder folder;
  const Result help = run_saccade(folder.path, {"--help"});
  check_done(help);
  for (const Command& command : commands()) {
    CAPTURE(command.name);
    CHECK(contains(help.out, fmt::format("\n  {} ", command.name)));
    const Result of_command = run_saccade(folder.path, {command.name, "--help"});
    check_done(of_command);
    CHECK(contains(of_command.out, fmt::format("Usage: saccade {} ", command.name)));
    for (const Option& option : command.options)
      CHECK(contains(of_command.out, fmt::format("\n  {} ", option.name)));
    REQUIRE(command.examples.size() == 2);
    for (const std::string& example : command.examples)
      CHECK(contains(of_command.out, fmt::format("\n  {}", example)));
  }
}

TEST_CASE("--version shows how the program was built") {
  const TemporaryFolder folder;
  const Result version = run_saccade(folder.path, {"--version"});
  check_done(version);
  for (const auto& [name, value] : build_facts()) {
    CAPTURE(name);
    CHECK(contains(version.out, fmt::format("{:<18}{}\n", name, value)));
  }
}

TEST_CASE("options shared by several commands have the same wording") {
  std::map<std::string, std::string> said;
  for (const Command& command : commands())
    for (const Option& option : command.options)
      for (const char* shared : {"--threads", "--json", "--force", "--quiet", "--strict", "config",
                                 "overrides", "run_dir"})
        if (option.name == shared) {
          CAPTURE(command.name);
          const bool own = option.name == "config" && command.name == "slurm";  // a study
          if (!own) CHECK(said.emplace(shared, option.about).first->second == option.about);
        }
  CHECK(said.size() == 8);
}

TEST_CASE("an experiment is found by its name") {
  const TemporaryFolder folder;
  const Result shown = run_saccade(folder.path, {"config", "quickstart"});
  check_done(shown);
  CHECK(shown.out.starts_with("name: quickstart "));
  check_refused(run_saccade(folder.path, {"run", "quikstart"}),
                "quikstart: no such file, and no preset (did you mean 'quickstart'?); presets: ");
  check_refused(run_saccade(folder.path, {"run", "there/quickstart"}),
                "there/quickstart: cannot be read: ");
}

TEST_CASE("config shows what run would use, and reports unused settings") {
  const TinyExperiment tiny;
  const Result shown = run_saccade(tiny.path, {"config", "tiny.yaml", "model.heads=2"});
  CHECK(shown.code == 0);
  CHECK(shown.err ==
        "saccade: warning: override 'model.heads=2': model.heads has no effect while model.core is "
        "lstm\n");
  put_bytes(tiny.path / "shown.yaml", shown.out);
  const Result again = run_saccade(tiny.path, {"config", "shown.yaml"});
  CHECK(again.out == shown.out);
  check_refused(run_saccade(tiny.path, {"config", "tiny.yaml", "model.heads=2", "--strict"}),
                "--strict: override 'model.heads=2': model.heads has no effect");
  const Result study = run_saccade(tiny.path, {"config", "tiny.yaml", "seeds=3"});
  check_done(study);
  CHECK(study.out.starts_with("# The first of 3 runs of a study\n"));
  CHECK(contains(study.out, "# varied: 1, 2, 3\n"));
}

TEST_CASE("settings are listed from the table") {
  const TemporaryFolder folder;
  const Result all = run_saccade(folder.path, {"settings"});
  check_done(all);
  for (const std::string& key : setting_keys()) {
    CAPTURE(key);
    CHECK(contains("\n" + all.out, "\n" + key + ": "));
  }
  const Result one = run_saccade(folder.path, {"settings", "model.heads"});
  CHECK(one.out ==
        "model.heads: 4\n    Number of attention heads; divides hidden_size\n"
        "    allowed: an integer from 1 to 64\n    has an effect with model.kind: recurrent\n"
        "    has an effect with model.core: attention\n");
  CHECK(run_saccade(folder.path, {"settings", "lr"}).out.starts_with("training.learning_rate: "));
  check_refused(run_saccade(folder.path, {"settings", "headz"}),
                "'headz': no setting has that in its key or meaning; the nearest key is ");
  const auto document = nlohmann::json::parse(run_saccade(folder.path, {"settings", "--json"}).out);
  CHECK(document.size() == setting_keys().size());
}

TEST_CASE(
    "presets are listed with their data, duration and first comment, each in one screen line") {
  const TemporaryFolder folder;
  const Result list = run_saccade(folder.path, {"presets"});
  check_done(list);
  check_contains(list.out,
                 {"\nquickstart         synthetic  40 seconds Synthetic digits: start here.",
                  "\ncatch              none       7 minutes  "});
  CHECK(list.out.find("\nram60 ") < list.out.find("\nstudies"));
  CHECK(list.out.find("\nadvantage ") > list.out.find("\nstudies"));
  for (const std::string& line : split(list.out, '\n')) {
    CAPTURE(line);
    CHECK(line.size() < 80);
  }
  const auto document = nlohmann::json::parse(run_saccade(folder.path, {"presets", "--json"}).out);
  for (const auto& preset : document) {
    CAPTURE(preset["name"]);
    CHECK(preset["about"].get<std::string>().size() > 20);
    CHECK(preset["time"].get<std::string>() != "");
  }
}

TEST_CASE("bash completion knows commands, options, settings and presets") {
  const TemporaryFolder folder;
  const Result script = run_saccade(folder.path, {"completion", "bash"});
  check_done(script);
  put_bytes(folder.path / "saccade.bash", script.out);
  const auto completed = [&](const std::string& line) {
    put_bytes(folder.path / "ask.bash", "source ./saccade.bash\ncompopt() { :; }\nCOMP_WORDS=(" +
                                            line +
                                            ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_saccade\n"
                                            "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return Program(folder.path, {"/bin/bash", "--norc", "ask.bash"}).finish().out;
  };
  CHECK(completed("saccade rec") == "record\n");
  CHECK(completed("saccade run quick") == "quickstart\n");
  CHECK(completed("saccade run x.yaml --dry") == "--dry-run\n");
  CHECK(completed("saccade run x.yaml training.learning") == "training.learning_rate=\n");
}

TEST_CASE("zsh and fish completion and the manual have every command and option") {
  const TemporaryFolder folder;
  for (const CommandWords& arguments :
       {CommandWords{"completion", "zsh"}, {"completion", "fish"}, {"man"}}) {
    CAPTURE(arguments.back());
    const Result text = run_saccade(folder.path, arguments);
    check_done(text);
    for (const Command& command : commands()) {
      CHECK(contains(text.out, command.name));
      for (const Option& option : command.options)
        if (option.name.starts_with("--") && option.name.find('-', 2) == std::string::npos)
          CHECK(contains(text.out, option.name.substr(2)));
    }
  }
  check_refused(run_saccade(folder.path, {"completion", "tcsh"}),
                "unknown shell 'tcsh'; allowed: bash, zsh, fish");
}

}  // namespace saccade
