// Checkpoints: the complete state or nothing, and never that of another model.
#include "agent/learning/checkpoint.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <regex>

#include "base/error.h"
#include "tests/agent/tasks.h"
#include "tests/support.h"

namespace saccade {
namespace {

AgentConfig saved_config(const std::string& core, const std::string& optimizer) {
  AgentConfig config = tiny_config(core);
  config.glimpse.first = "learned";
  config.glimpse.learn_std = true;
  config.reinforce.advantage = "ema";
  config.training.optimizer.optimizer = optimizer;
  return config;
}

// A learner and everything it refers to, after some updates.
struct Trained {
  explicit Trained(const AgentConfig& config, int updates = 0,
                   const ObservationSpec& spec = kTinySpec,
                   const EnvironmentFactory& environments = tiny_environment)
      : model(config, spec), learner(model, environments, 3, workers) {
    step(updates);
  }

  void step(int updates) {
    for (int n = 0; n < updates; ++n) learner.step();
  }

  Workers workers{1};
  Model model;
  Learner learner;
};

bool contains_word(const std::string& text, const std::string& word) {
  const auto goes_on = [](char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if (!goes_on(text[at - 1]) && !std::isalnum(text[at + word.size()])) return true;
  return false;
}

const std::map<std::string, std::string> kNotes = {{"best", "0.125"}, {"window", "1 2 \xc3\xa9\n"}};

struct SavedCheckpoint : TemporaryFolder {
  explicit SavedCheckpoint(const Learner& learner) {
    save_checkpoint(file, learner, "name: tiny\n", kNotes);
  }

  // Returns the message if another learner restores it, without the path; that learner must be
  // unchanged.
  std::string fault(const AgentConfig& config) const {
    Trained other(config, 2);
    const std::string before = state_of(other.learner);
    const std::string message =
        message_of<InputError>([&] { Checkpoint(file).restore(other.learner); });
    CHECK((state_of(other.learner) == before));
    return without_path(message);
  }

  std::string without_path(const std::string& message) const {
    const std::string start = file.string() + ": ";
    INFO("message: " << message);
    REQUIRE(message.starts_with(start));
    return message.substr(start.size());
  }

  // Returns the message of opening the file as it is now, without the path.
  template <class Error = InputError>
  std::string opening_fault() const {
    return without_path(message_of<Error>([&] { Checkpoint{file}; }));
  }

  fs::path file = path / "x.safetensors";
};

// Saves a learner, restores it into another, and continues with both.
void check_round_trip(const AgentConfig& config, const ObservationSpec& spec = kTinySpec,
                      const EnvironmentFactory& environments = tiny_environment) {
  Trained trained(config, 7, spec, environments);
  const SavedCheckpoint saved(trained.learner);

  Trained other(config, 2, spec, environments);
  REQUIRE((state_of(other.learner) != state_of(trained.learner)));
  const Checkpoint checkpoint(saved.file);
  CHECK(checkpoint.updates() == 7);
  checkpoint.restore(other.learner);
  CHECK(other.learner.updates() == 7);
  CHECK(other.learner.average_returns == trained.learner.average_returns);
  save_checkpoint(saved.path / "again", other.learner, "name: tiny\n", kNotes);
  CHECK((bytes_of(saved.path / "again") == bytes_of(saved.file)));

  trained.step(5);
  other.step(5);
  CHECK((state_of(other.learner) == state_of(trained.learner)));
}

}  // namespace

TEST_CASE("a restored checkpoint has the complete state: saving it again gives the same bytes") {
  for (const std::string& core : core_kinds())
    for (const std::string& optimizer : optimizers()) {
      CAPTURE(core);
      CAPTURE(optimizer);
      check_round_trip(saved_config(core, optimizer));
    }
}

TEST_CASE("a restored checkpoint has the complete state for every way of looking") {
  for (const auto& [name, config] : every_agent(tiny_config())) {
    CAPTURE(name);
    check_round_trip(config);
  }
}

TEST_CASE(
    "a restored checkpoint has the complete state with attention over inputs and states, in every "
    "task") {
  for (const auto& [name, config, task] : every_task_agent(tiny_config("lstm"))) {
    CAPTURE(name);
    check_round_trip(config, task.spec, task.environments);
  }
}

TEST_CASE("a checkpoint keeps the configuration and the notes") {
  const Trained trained(saved_config("rnn", "adam"));
  const SavedCheckpoint saved(trained.learner);
  const Checkpoint checkpoint(saved.file);
  CHECK(checkpoint.config_yaml() == "name: tiny\n");
  for (const auto& [name, text] : kNotes) CHECK(checkpoint.note(name) == text);
  CHECK(checkpoint.updates() == 0);
  const std::string message = message_of<InputError>([&] { checkpoint.note("worst"); });
  CHECK(saved.without_path(message) == "the checkpoint has no entry 'note.worst'");
}

TEST_CASE("the averaged weights can be restored alone") {
  const AgentConfig config = saved_config("gru", "sgd");
  const Trained trained(config, 4);
  const SavedCheckpoint saved(trained.learner);
  Tensor<1> weights = zeros<1>(trained.model.layout().size());
  Checkpoint(saved.file).restore_averaged(weights, trained.model.layout());
  CHECK(std::ranges::equal(weights, trained.learner.optimizer.averaged));
  CHECK_FALSE(std::ranges::equal(weights, trained.learner.parameters));

  AgentConfig wider = config;
  wider.model.feature_size = 9;
  const Trained other(wider);
  weights = zeros<1>(other.model.layout().size());
  const std::string message = message_of<InputError>(
      [&] { Checkpoint(saved.file).restore_averaged(weights, other.model.layout()); });
  CHECK(saved.without_path(message) ==
        "'ema/glimpse.joint.weight' is (11, 8), but this model has (11, 9)");
  CHECK(std::ranges::count(weights, 0.0F) == static_cast<std::ptrdiff_t>(weights.size()));
}

TEST_CASE("averaged weights are saved as a checkpoint would give them") {
  const Trained trained(saved_config("gru", "adam"), 4);
  const SavedCheckpoint saved(trained.learner);
  Checkpoint(saved.file).write_averaged(saved.path / "of file", Precision::single);
  save_averaged(saved.path / "of learner", trained.learner, "name: tiny\n", kNotes);
  CHECK((bytes_of(saved.path / "of learner") == bytes_of(saved.path / "of file")));
}

TEST_CASE("a checkpoint keeps the factor on the learning rate, and has no entry for 1") {
  Trained trained(saved_config("rnn", "adam"), 1);
  Trained other(saved_config("rnn", "adam"));
  for (const double factor : {0.3, 1.0}) {
    trained.learner.optimizer.rate_factor = factor;
    const SavedCheckpoint saved(trained.learner);
    const bool has_entry = read_safetensors(saved.file).metadata.contains("learning_rate_factor");
    CHECK(has_entry == (factor != 1.0));
    Checkpoint(saved.file).restore(other.learner);
    CHECK(other.learner.optimizer.rate_factor == factor);
    CHECK((state_of(other.learner) == state_of(trained.learner)));
  }
}

TEST_CASE("another model's checkpoint is refused and changes nothing") {
  const Trained trained(saved_config("rnn", "adam"), 4);
  const SavedCheckpoint saved(trained.learner);

  AgentConfig other = saved_config("rnn", "adam");
  other.model.hidden_size = 9;
  CHECK(saved.fault(other) == "'core.weight' is (13, 5), but this model has (17, 9)");
  other = saved_config("rnn", "adam");
  other.model.locator_hidden = 7;  // the first parameters agree
  CHECK(saved.fault(other) == "'locator.hidden.weight' is (5, 6), but this model has (5, 7)");
  CHECK(saved.fault(saved_config("lstm", "adam")) ==
        "'core.weight' is (13, 5), but this model has (13, 20)");
  CHECK(saved.fault(saved_config("gru", "adam")) ==
        "has no tensor 'core.gates.weight', which this model has");
  other = saved_config("rnn", "adam");
  other.glimpse.first = "center";  // one parameter fewer: surplus parameters in the file are
                                   // detected, too
  CHECK(saved.fault(other).find("tensors, but this model and optimiser have") != std::string::npos);
}

TEST_CASE("another optimiser's checkpoint is refused and changes nothing") {
  const Trained adam(saved_config("rnn", "adam"), 4), sgd(saved_config("rnn", "sgd"), 4);
  CHECK(SavedCheckpoint(sgd.learner).fault(saved_config("rnn", "adam")) ==
        "has no tensor 'optimizer.second/glimpse.what.weight', which this model has");
  const std::size_t count = adam.model.layout().parameters().size();
  CHECK(SavedCheckpoint(adam.learner).fault(saved_config("rnn", "sgd")) ==
        fmt::format("{} tensors, but this model and optimiser have {}", 4 * count, 3 * count));
}

TEST_CASE("a missing, truncated or altered checkpoint is refused") {
  const Trained trained(saved_config("rnn", "adam"), 1);
  const SavedCheckpoint saved(trained.learner);
  const std::string bytes = bytes_of(saved.file);
  const auto fault_of = [&](const std::string& content) {
    put_bytes(saved.file, content);
    return saved.opening_fault();
  };
  for (const std::size_t size : {std::size_t{0}, std::size_t{7}, std::size_t{100}, bytes.size() / 2,
                                 bytes.size() - 4, bytes.size() - 1}) {
    CAPTURE(size);
    fault_of(bytes.substr(0, size));
  }
  for (const char* place : {"name: tiny", "0.125", "ema/core.bias"}) {
    CAPTURE(place);
    std::string altered = bytes;
    altered[altered.find(place) + 3] ^= 1;
    CHECK(fault_of(altered).starts_with("altered: its crc32 is "));
  }
  std::string altered = bytes;
  altered[bytes.size() - 2] ^= 0x10;  // in the last weight
  CHECK(fault_of(altered).starts_with("altered: its crc32 is "));
  altered[bytes.find("crc32") + 4] ^= 1;  // disables the checksum that would detect it
  CHECK(fault_of(altered) == "altered: it has no crc32, as every checkpoint has");

  put_bytes(saved.file, bytes);
  CHECK(message_of<InputError>([&] { Checkpoint{saved.file}; }) == "nothing thrown");
  fs::remove(saved.file);
  CHECK(saved.opening_fault() == "cannot be read: No such file or directory");
}

TEST_CASE("an intact file with other contents is refused") {
  const Trained trained(saved_config("rnn", "adam"), 1);
  const SavedCheckpoint saved(trained.learner);
  const std::string said =
      "not a checkpoint of this program ('saccade checkpoint 1' expected as "
      "format)";
  for (const std::map<std::string, std::string>& metadata :
       {std::map<std::string, std::string>{}, {{"format", "pt"}}}) {
    write_safetensors(saved.file, {}, metadata);
    CHECK(saved.opening_fault() == said);
  }

  // The right tensors, but an invalid counter.
  save_checkpoint(saved.file, trained.learner, "", {});
  const std::string bounds = "; allowed: 0 to 1000000000000000";
  const struct {
    std::string counter, text, fault;
  } counters[] = {
      {"average_reward", "many", "'many' in the checkpoint is not a number"},
      {"average_reward", "1 2 3 4 5", "average_reward: 5 numbers in the checkpoint; allowed: "},
      {"updates", "many", "updates: many" + bounds},
      {"updates", "", "updates: " + bounds},
      {"updates", "-1", "updates: -1" + bounds},
      {"updates", "1.5", "updates: 1.5" + bounds},
      {"updates", "1e3", "updates: 1e3" + bounds},
      {"updates", "99999999999999999999", "updates: 99999999999999999999" + bounds},
      {"updates", "1000000000000000", "updates: 1000000000000000; this training makes "},
      {"learning_rate_factor", "half", "'half' in the checkpoint is not a number"},
      {"learning_rate_factor", "-1", "learning_rate_factor: -1; allowed: 0 to 1000000"},
      {"learning_rate_factor", "nan", "learning_rate_factor: nan; allowed: 0 to 1000000"}};
  for (const auto& [counter, text, fault] : counters) {
    CAPTURE(counter);
    CAPTURE(text);
    const SafetensorsFile file = read_safetensors(saved.path / "x.safetensors");
    auto metadata = file.metadata;
    metadata[counter] = text;
    write_safetensors(saved.path / "y", file.tensors, metadata);
    Trained other(saved_config("rnn", "adam"));
    const std::string before = state_of(other.learner);
    const std::string message =
        message_of<InputError>([&] { Checkpoint(saved.path / "y").restore(other.learner); });
    CHECK(message.find(fault) != std::string::npos);
    CHECK((state_of(other.learner) == before));
  }
}

TEST_CASE("a checkpoint of a later version is refused with that version") {
  const Trained trained(saved_config("rnn", "adam"), 1);
  const SavedCheckpoint saved(trained.learner);
  write_safetensors(saved.file, {}, {{"format", "saccade checkpoint 12"}});
  CHECK(saved.opening_fault<NewerCheckpoint>() ==
        "was written by a later version of this program ('saccade checkpoint 12'; this one reads "
        "'saccade "
        "checkpoint 1'): read it with that one");
}

TEST_CASE("non-finite weights are refused") {
  const Trained trained(saved_config("rnn", "adam"), 1);
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const SavedCheckpoint saved(trained.learner);
    {
      SafetensorsFile file = read_safetensors(saved.file);
      const NamedTensor& tensor = file.find("ema/core.weight");
      file.storage[static_cast<std::size_t>(tensor.data.data() - file.storage.data())] = value;
      write_safetensors(saved.path / "y", file.tensors, file.metadata);
    }
    fs::rename(saved.path / "y", saved.file);
    CHECK(saved.opening_fault() == "'ema/core.weight' has values that are not finite");
  }
}

TEST_CASE("a double survives as text bit for bit") {
  using Limits = std::numeric_limits<double>;
  for (const double value : {0.0, 0.1, 1.0 / 3.0, -2.5e-300, 1e300, 192.0, Limits::max(),
                             Limits::min(), Limits::denorm_min(), Limits::infinity()}) {
    CHECK(from_exact(exact(value)) == value);
    CHECK(from_exact(exact(-value)) == -value);
  }
  CHECK(std::signbit(from_exact(exact(-0.0))));
  CHECK(std::isnan(from_exact(exact(Limits::quiet_NaN()))));
  for (const char* text : {"", " 1", "1 ", "1x", "one", "0x10", "1,5"}) {
    CAPTURE(text);
    CHECK(message_of<InputError>([&] { from_exact(text); }) ==
          "'" + std::string(text) + "' in the checkpoint is not a number");
  }
}

TEST_CASE("the documented layout of a checkpoint covers every parameter of every kind") {
  const std::string header = bytes_of(source_folder() / "agent/learning/checkpoint.h");
  const auto is_told = [&](std::string name) {
    // A decoder has its own core and read, and layers are numbered.
    name = std::regex_replace(name, std::regex("^decoder\\.core\\."), "core.");
    name = std::regex_replace(name, std::regex("^decoder\\.attend\\."), "hidden.");
    name = std::regex_replace(name, std::regex("(layer|stage|block)[0-9]+"), "$1<n>");
    const std::string weight = std::regex_replace(name, std::regex("\\.bias$"), ".weight");
    return contains_word(header, name) || contains_word(header, weight);
  };
  const auto check_told = [&](const Model& model) {
    for (const Parameter& parameter : model.layout().parameters()) {
      CAPTURE(parameter.name);
      CHECK(is_told(parameter.name));
    }
  };
  CHECK_FALSE(is_told("core.wei"));
  CHECK_FALSE(is_told("locator.bias"));
  for (const std::string& core : core_kinds()) {
    AgentConfig config = tiny_config(core);
    config.model.depth = 2;
    check_told(Model(config, kTinySpec));
  }
  AgentConfig config = tiny_config();
  config.glimpse.first = "learned";
  config.glimpse.learn_std = true;
  config.hidden.kind = "attend";
  config.hidden.attend = {.area = "local", .position = "predicted"};
  check_told(Model(config, kTinySpec));
  for (const auto& [name, agent] : every_agent(tiny_config())) check_told(Model(agent, kTinySpec));
  for (const auto& [name, agent, task] : every_task_agent(tiny_config()))
    check_told(Model(agent, task.spec));
}

}  // namespace saccade
