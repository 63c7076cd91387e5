#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.h"

namespace saccade {

/// What a study's folder holds beside the folders of its variants. The first lists its run folders
/// relative to it, one per line, in study order.
inline const char* const kStudyFile = "study.txt";
inline const char* const kSlurmFile = "slurm.sh";
inline const char* const kComparisonFolder = "comparison";  // and comparison-2, ..

/// The folder of a run in that of its variant begins so.
inline const char* const kSeedFolder = "seed-";

/// Returns <variant>/seed-<n>. The variant is config.variant, if set, followed by the overridden
/// settings and their values in the order of the documentation ("model.core=gru": the last two
/// words of a key), or `base` if there are none. A long name is cut and ends in a checksum of the
/// whole. Throws InputError for a name that is one of the above.
std::filesystem::path run_folder_below(const Config& config,
                                       const std::vector<std::string>& overrides);

/// The files of one run. A folder holds config.yaml (every value), command.txt (as typed),
/// meta.json (what it ran on), metrics.csv, checkpoints/last.safetensors, previous.safetensors (the
/// last checkpoint but one, in case the last is damaged) and best.safetensors; at its end
/// summary.json and test.json; on request recordings/, snapshots/, metrics.jsonl and
/// events.out.tfevents.saccade. During training it also holds a lock (folder_lock.h), and after a
/// failed training failed.txt.
class RunFolder {
 public:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path last_checkpoint() const { return path_ / "checkpoints/last.safetensors"; }
  std::filesystem::path previous_checkpoint() const {
    return path_ / "checkpoints/previous.safetensors";
  }
  std::filesystem::path best_checkpoint() const { return path_ / "checkpoints/best.safetensors"; }
  std::filesystem::path metrics() const { return path_ / "metrics.csv"; }
  std::filesystem::path metrics_lines() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path events() const { return path_ / "events.out.tfevents.saccade"; }
  std::filesystem::path summary() const { return path_ / "summary.json"; }
  std::filesystem::path details() const { return path_ / "test.json"; }
  std::filesystem::path recordings() const { return path_ / "recordings"; }
  std::filesystem::path snapshots() const { return path_ / "snapshots"; }
  std::filesystem::path snapshot(std::int64_t episodes) const;
  std::filesystem::path failure() const { return path_ / "failed.txt"; }

  /// Returns whether the path holds anything. A folder with no files of a run counts as nothing; a
  /// lock, failed.txt and half-written files do not count. So does a folder that create() made but
  /// that has no checkpoint, since a run cannot resume from it.
  bool exists() const;
  /// Throws InputError naming a symbolic link in the folder, through which files elsewhere would be
  /// read or written.
  void require_no_links() const;
  /// Throws InputError if exists().
  void require_new() const;
  /// Keeps the last checkpoint as the previous one as well, until a new one is written. Both exist
  /// at every moment. Throws std::runtime_error naming the file and the reason.
  void keep_last_checkpoint() const;
  /// Renames the last checkpoint to damaged.safetensors.
  void set_damaged_checkpoint_aside() const;
  /// Removes files, recordings and snapshots that a killed run left half written.
  void remove_left_overs() const;
  /// Keeps the rows of a run without a checkpoint as metrics.before.csv, or metrics.before-2.csv
  /// and so on. Returns the path; nothing if there are no such rows.
  std::optional<std::filesystem::path> set_metrics_aside() const;
  /// Makes the folder with config.yaml, command.txt, meta.json and an empty metrics.csv, all synced
  /// to disk. Throws InputError if something exists already, and as throw_refused().
  void create(const Config& config, const std::string& command, const std::string& meta) const;
  /// Writes config.yaml, command.txt and meta.json if they are missing or have lost their contents,
  /// as after a power failure under a version before 0.2, and all three if config.yaml is of
  /// another configuration, as of a run that is extended to more episodes.
  void restore_words(const Config& config, const std::string& command,
                     const std::string& meta) const;
  /// Returns whether any of these files is lost.
  bool has_lost() const;
  /// For a run that is extended to more episodes: keeps the test results of the shorter run as
  /// summary.before.json and test.before.json (or .before-2 and so on).
  void set_test_aside() const;

 private:
  std::filesystem::path set_aside(const std::filesystem::path& file) const;
  void write_words(const Config& config, const std::string& command, const std::string& meta) const;
  bool is_begun() const;
  bool is_beginning(const std::filesystem::path& entry) const;

  std::filesystem::path path_;
};

/// Returns the machine and the inputs as JSON: version, commit, compiler, processor, ranks, threads
/// per rank, checksums of the data.
std::string meta_json(int ranks, int threads, const std::map<std::string, std::string>& checksums);

}  // namespace saccade
