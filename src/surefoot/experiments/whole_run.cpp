#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/core/time_left.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/experiments/experiment.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/report/reproduction.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <new>
#include <optional>
#include <system_error>

namespace surefoot::experiments {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr double expected_on_cores = 2;
constexpr const char* page_name = "report.html";

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string about(double seconds) {
  if (seconds < 90) return fmt::format("about {:.0f} s", seconds);
  return fmt::format("about {:.0f} min", seconds / 60);
}

/// Of parts that gain from more cores and of parts that do not.
double expected_seconds(const Experiment& experiment, const Settings& settings) {
  const double seconds = settings.quick() ? experiment.quick_seconds : experiment.paper_seconds;
  return threads() < expected_on_cores ? seconds * expected_on_cores / threads() : seconds;
}

class WholeRun {
 public:
  WholeRun(const Settings& settings, std::string command)
      : settings_(settings), command_(std::move(command)), time_(expected_times()) {
    for (const Experiment& experiment : all_experiments()) {
      results_.push_back({experiment.name, experiment.title, "Not done yet.", 0, {}, {}, {}});
    }
  }

  void operator()() {
    result_.emplace(settings_.folder, [](const fs::path& name) { return name == page_name; });
    result_->begin();
    look_for_letters();
    find_finished();
    fmt::print(
        "All experiments, scale {}, seed {}, into {}: {} on {} threads.\nIf this is interrupted, the same "
        "command resumes it and keeps what is finished:  {}\n",
        settings_.scale, settings_.seed, settings_.folder.string(), about(time_.seconds()), threads(),
        command_);
    for (std::size_t i = 0; i < all_experiments().size(); ++i) {
      if (before_[i]) {
        guarded(all_experiments()[i].name, [&] { keep(i, *before_[i]); });
        fmt::print("\n{}: finished before, not done again\n", place_of(i));
      }
    }
    guarded(page_name, [&] { write_page(); });
    for (std::size_t i = 0; i < all_experiments().size(); ++i) {
      if (!left_out_[i] && !before_[i]) do_part(i);
    }
    finish();
  }

 private:
  [[nodiscard]] std::vector<double> expected_times() const {
    std::vector<double> times;
    for (const Experiment& experiment : all_experiments())
      times.push_back(expected_seconds(experiment, settings_));
    return times;
  }

  [[nodiscard]] Settings settings_of(const Experiment& experiment) const {
    Settings own = settings_;
    own.folder = settings_.folder / experiment.name;
    if (own.samples == 0) own.samples = experiment.samples;
    return own;
  }

  void look_for_letters() {
    if (!settings_.letters.empty()) letters_file(settings_.letters);
    if (settings_.letters.empty() && find_letters(usual_letters)) settings_.letters = usual_letters;
    for (std::size_t i = 0; i < all_experiments().size(); ++i) {
      left_out_.push_back(all_experiments()[i].has_option("--letters") && settings_.letters.empty());
      if (!left_out_[i]) continue;
      results_[i].missing =
          "Left out: it needs the EMNIST letters (emnist-letters-train-images-idx3-ubyte.gz in a folder "
          "named by --letters), which are not here.";
      time_.left_out(i);
      host().say(fmt::format("{} IS LEFT OUT: it needs the EMNIST letters; name their folder by --letters",
                             all_experiments()[i].name));
    }
  }

  void find_finished() {
    for (std::size_t i = 0; i < all_experiments().size(); ++i) {
      std::optional<Finished> before;
      if (!left_out_[i] && ranks().first()) {
        before = finished_before(all_experiments()[i], settings_of(all_experiments()[i]));
      }
      if (ranks().as_first(before.has_value()) && !before) before.emplace();  // the first process has it
      before_.push_back(std::move(before));
      if (before_[i]) time_.left_out(i);
    }
  }

  [[nodiscard]] static std::string place_of(std::size_t i) {
    return fmt::format("[{}/{}] {}", i + 1, all_experiments().size(), all_experiments()[i].name);
  }

  void do_part(std::size_t i) {
    const Experiment& experiment = all_experiments()[i];
    fmt::print("\n{}: {} left for the whole run\n\n", place_of(i), about(time_.seconds()));
    std::fflush(stdout);
    const auto begin = Clock::now();
    const WholeProgress words([&, begin] {
      return fmt::format("whole run: {} left", about(time_.seconds(i, seconds_since(begin))));
    });
    guarded(experiment.name, [&] {
      keep(i, run_experiment(experiment, settings_of(experiment)));
      write_page();
    });
    time_.done(i, seconds_since(begin));
    fmt::print("\n{}: done in {:.0f} s\n", place_of(i), results_[i].seconds);
    std::fflush(stdout);
  }

  /// What stops the work also says what is kept and how to go on.
  template <class Work>
  void guarded(const std::string& what, const Work& work) const {
    std::string why;
    bool resources = true;
    try {
      work();
      return;
    } catch (const std::bad_alloc&) {
      why = out_of_memory();
    } catch (const ResourceError& error) {
      why = error.what();
    } catch (const InputError& error) {
      resources = false;
      why = error.what();
    } catch (const std::system_error& error) {
      why = fmt::format("cannot write: {}", error.what());
    }
    std::vector<std::string> done;
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (results_[i].missing.empty() || before_[i]) done.push_back(results_[i].name);
    }
    const std::string line =
        fmt::format("{}: {}; finished and kept: {}; resume with: {}", what, why,
                    done.empty() ? "nothing yet" : fmt::format("{}", fmt::join(done, ", ")), command_);
    if (resources) throw ResourceError(line);
    throw InputError(line);
  }

  /// For the page, with the certificates as they are on disk.
  void keep(std::size_t i, const Finished& finished) {
    report::ExperimentResult& result = results_[i];
    if (!ranks().first()) return result.missing.clear();
    result.seconds = finished.seconds;
    result.tables = finished.record.tables;
    result.figures = finished.record.figures;
    for (const RecordedCertificate& each : finished.record.certificates) {
      const fs::path inside = fs::path(all_experiments()[i].name) / each.folder;
      const std::string text =
          io::read_file(settings_.folder / inside / "certificate.json", certify::largest_certificate);
      result.certificates.push_back({inside.lexically_normal().generic_string(), each.main,
                                     certify::parse_certificate(text).certificate});
    }
    result.missing.clear();
  }

  void write_page() {
    if (!ranks().first()) return;
    report::Reproduction whole;
    whole.title = "Guarantees for classical and learned optimizers, reproduced";
    whole.subtitle = fmt::format("All experiments of the paper and one beyond it, {} scale, seed {}",
                                 settings_.scale, settings_.seed);
    whole.version = std::string(version);
    whole.command = command_;
    whole.settings = {
        "The paper: R. Sambharya and B. Stellato, Data-driven performance guarantees for classical and "
        "learned optimizers. Warm starts in control are not in it.",
        settings_.quick()
            ? "Quick scale: few samples and short training. It shows that everything works; its bounds are "
              "loose. The paper's sizes: --scale paper."
            : "Paper scale: its numbers of samples, and training of our recipes in full."};
    whole.experiments = results_;
    result_->write(page_name, page_.html(whole));
  }

  void finish() {
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (!left_out_[i]) result_->add(results_[i].name + '/' + io::manifest_name);
    }
    result_->finish();
    double seconds = 0;
    for (const report::ExperimentResult& result : results_) seconds += result.seconds;
    const fs::path report = settings_.folder / page_name;
    fmt::print("\nAll in {:.0f} s of work. Read {}\n", seconds, report.string());
    for (std::size_t i = 0; i < results_.size(); ++i) {
      if (left_out_[i]) fmt::print("Left out: {} (no letters; see --letters)\n", results_[i].name);
    }
    fmt::print("Check it:  surefoot verify {}\n", report::shell_path(settings_.folder.string()));
  }

  Settings settings_;
  std::optional<io::ResultFolder> result_;
  std::string command_;
  TimeLeft time_;
  std::vector<report::ExperimentResult> results_;
  std::vector<std::optional<Finished>> before_;
  std::vector<bool> left_out_;
  report::ReproductionPage page_;
};

}  // namespace

void run_all(const Settings& settings, const std::string& command) {
  WholeRun(settings, command)();
}

}  // namespace surefoot::experiments
