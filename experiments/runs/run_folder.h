#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/output.h"
#include "experiments/config/config.h"
#include "experiments/files/metrics.h"
#include "experiments/runs/kept_metrics.h"

namespace saccade {

/// <variant>/seed-<n>, where the variant says in few words what was overridden and to what, in the
/// order of the documentation ("model.core=gru": the last two words of a key), behind
/// its own name if config.variant gives it one; `base` where there is nothing to say. A long one
/// ends in a checksum of the whole.
std::filesystem::path run_folder_below(const Config& config,
                                       const std::vector<std::string>& overrides);
/// As versions before 0.2 said it.
std::filesystem::path former_run_folder_below(const Config& config,
                                              const std::vector<std::string>& overrides);
/// The former one of two folders, if it is there and the other is not.
std::filesystem::path existing_run_folder(const std::filesystem::path& folder,
                                          const std::filesystem::path& former);
/// runs/<name>/ and that; the former one, if it is there alone.
std::filesystem::path default_run_folder(const Config& config,
                                         const std::vector<std::string>& overrides);

/// The files of one run. A folder holds config.yaml (every value), command.txt (as typed),
/// meta.json (what it ran on), metrics.csv, checkpoints/last.safetensors, previous.safetensors
/// (what was the last one before, should that be damaged) and best.safetensors, at its end
/// summary.json and test.json, and where they are asked for recordings/, metrics.jsonl and
/// events.out.tfevents.saccade. While it is trained there is a lock beside them (folder_lock.h),
/// and failed.txt after a training that failed.
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
  std::filesystem::path failure() const { return path_ / "failed.txt"; }

  /// Whether there is anything at the path. A folder with nothing of a run in it, as a lock, the
  /// word of a failure and half-written files are not, is as good as none. So is one that create()
  /// made and that has no checkpoint, since a run cannot go on from it.
  bool exists() const;
  /// Throws InputError naming a symbolic link in the folder, by which files of others would be read
  /// or written.
  void require_no_links() const;
  /// Throws InputError if there is something already.
  void require_new() const;
  /// The last checkpoint becomes the previous one, too, until another is written. At no moment is
  /// either missing. Throws std::runtime_error naming the file and the reason.
  void keep_last_checkpoint() const;
  /// Renames what is there for the last checkpoint to damaged.safetensors.
  void set_damaged_checkpoint_aside() const;
  /// Removes what a run that was ended by force had begun to write and to film.
  void remove_left_overs() const;
  /// Rows of a run that has no checkpoint are kept as metrics.before.csv, or metrics.before-2.csv
  /// and so on. Returns where; nothing without such rows.
  std::optional<std::filesystem::path> set_metrics_aside() const;
  /// Makes the folder with config.yaml, command.txt, meta.json and an empty metrics.csv, which stay
  /// through a power failure. Throws InputError if there is something already, and as
  /// throw_refused().
  void create(const Config& config, const std::string& command, const std::string& meta) const;
  /// Writes config.yaml, command.txt and meta.json where they are missing or have lost their
  /// contents, as in a power failure under a version before 0.2.
  void restore_lost(const Config& config, const std::string& command,
                    const std::string& meta) const;
  /// Whether there is such a file.
  bool has_lost() const;
  /// For a run that goes on to more episodes: writes these files anew, and keeps the test of the
  /// shorter one as summary.before.json and test.before.json (or .before-2 and so on).
  void lengthen(const Config& config, const std::string& command, const std::string& meta) const;

 private:
  std::filesystem::path set_aside(const std::filesystem::path& file) const;
  void write_words(const Config& config, const std::string& command, const std::string& meta) const;
  bool is_begun() const;
  bool is_beginning(const std::filesystem::path& entry) const;

  std::filesystem::path path_;
};

/// metrics.csv: a header, then one row a logging step. The columns are those of kMetrics that are
/// written there; the step column is `episodes`, the last one time/elapsed.
class MetricsFile {
 public:
  /// Opens for appending. Rows beyond `keep_episodes` - written after the checkpoint that a resumed
  /// run goes on from - are dropped first.
  MetricsFile(const std::filesystem::path& path, std::int64_t keep_episodes);

  /// Throws std::logic_error for a metric that is not written in metrics.csv.
  void append(const MetricsRow& row);
  void sync() const { file_.sync(); }

  /// time/elapsed of the last row that was kept; 0 without one.
  double elapsed() const { return elapsed_; }

 private:
  AppendedFile file_;
  double elapsed_ = 0.0;
};

/// What the program runs on and reads, as JSON: version, commit, compiler, processor, ranks,
/// threads of each, checksums of the data.
std::string meta_json(int ranks, int threads, const std::map<std::string, std::string>& checksums);

}  // namespace saccade
