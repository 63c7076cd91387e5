// What a run does whose checkpoints are damaged, altered or of something else.
#include <doctest/doctest.h>

#include <functional>

#include "agent/learning/checkpoint.h"
#include "tests/experiments/program.h"
#include "tests/experiments/resuming.h"

namespace saccade {

TEST_CASE("if the last checkpoint is damaged, the previous one is used") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole");
  const std::function<void(std::string&)> damages[] = {
      [](std::string& bytes) { bytes.clear(); },
      [](std::string& bytes) { bytes.resize(bytes.size() - 100); },
      [](std::string& bytes) { bytes[bytes.size() - 100] ^= 1; },
      [](std::string& bytes) { bytes.assign(bytes.size(), '\0'); }};
  for (const auto& damage : damages) {
    const RunRequest options = tiny.options("out");
    for (int n = 0; n < 5; ++n) CHECK_FALSE(run_one_update(n == 0 ? options : resumed(options)));
    const fs::path last = options.out / kLast;
    REQUIRE(Checkpoint(options.out / kPrevious).updates() == 4);
    std::string bytes = bytes_of(last);
    damage(bytes);
    put_bytes(last, bytes);
    const Program::Result result =
        run_saccade(tiny.path, {"run", tiny.yaml.string(), "--resume", "--out", "out"});
    CHECK(result.code == 0);
    check_contains(result.out,
                   {"out/checkpoints/last.safetensors: ",
                    "; continues from out/checkpoints/previous.safetensors, 4 updates\n"});
    CHECK((bytes_of(options.out / "checkpoints/damaged.safetensors") == bytes));
    check_same_run(options.out, whole);
    fs::remove_all(options.out);
  }
}

TEST_CASE("a kill between the two renames of a checkpoint leaves no third file") {
  const TinyExperiment tiny;
  RunRequest options = tiny.options("out");
  CHECK_FALSE(run_one_update(options));
  fs::remove(options.out / kPrevious);
  fs::create_hard_link(options.out / kLast, options.out / kPrevious);
  CHECK(run(resumed(options), false));
  CHECK(Checkpoint(options.out / kPrevious).updates() < Checkpoint(options.out / kLast).updates());
  CHECK_FALSE(has_name_beside(options.out / "checkpoints"));
}

TEST_CASE("a last checkpoint of a later version is not skipped, nor are two damaged ones") {
  const TinyExperiment tiny;
  RunRequest options = tiny.options("out");
  CHECK_FALSE(run_one_update(options));
  CHECK_FALSE(run_one_update(resumed(options)));
  const fs::path last = options.out / kLast;
  const std::string good = bytes_of(last);
  write_safetensors(last, {}, {{"format", "saccade checkpoint 2"}});
  const auto before = contents(options.out);
  CHECK(contains(resume_fault(resumed(options)), "was written by a later version of this program"));
  CHECK(contents(options.out) == before);

  // Nothing is changed.
  put_bytes(last, "");
  put_bytes(options.out / kPrevious, "");
  CHECK(contains(resume_fault(resumed(options)), "previous.safetensors: no safetensors file"));
  CHECK(bytes_of(last).empty());
}

TEST_CASE("a checkpoint that is truncated, altered or of another model is not resumed") {
  const TinyExperiment tiny;
  RunRequest options = tiny.options("out");
  CHECK_FALSE(run_one_update(options));
  fs::remove(options.out / kPrevious);
  options.resume = true;
  const fs::path last = options.out / kLast;
  const std::string good = bytes_of(last);
  const auto check_refused = [&](const std::string& bytes, const std::string& said) {
    CAPTURE(said);
    put_bytes(last, bytes);
    const auto before = contents(options.out);
    const std::string message = resume_fault(options);
    INFO("message: " << message);
    CHECK(message.starts_with(last.string() + ": "));
    CHECK(contains(message, said));
    CHECK(contents(options.out) == before);
  };
  check_refused("", "no safetensors file");
  check_refused(good.substr(0, good.size() - 100), "truncated");
  std::string altered = good;
  altered[good.size() - 100] ^= 1;
  check_refused(altered, "altered: its crc32 is ");
  check_refused(bytes_of(tiny.train("wider", {"model.hidden_size=9"}) / kLast), "hidden_size: 9");

  // This configuration with the tensors of another model.
  {
    const SafetensorsFile other = read_safetensors(tiny.path / "wider" / kLast);
    put_bytes(last, good);
    write_safetensors(tiny.path / "mixed", other.tensors, read_safetensors(last).metadata);
  }
  check_refused(bytes_of(tiny.path / "mixed"), "'core.weight' is (17, 36), but this model has (14");

  put_bytes(last, good);
  CHECK(run(options, false));
}

}  // namespace saccade
