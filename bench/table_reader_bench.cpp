// Megabytes of table per second, hashing included, on generated files of about 200 MB in a temporary folder.
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/table_reader.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

namespace surefoot::io {
namespace {

namespace fs = std::filesystem;

constexpr Index bench_rows = 87000;
constexpr Index bench_columns = 100;

/// The same numbers as CSV (17 digits), as gzip of it and as .npy; removed at the end.
class Files {
 public:
  Files() : folder_(fs::temp_directory_path() / fmt::format("surefoot-bench-{}", ::getpid())) {
    fs::create_directory(folder_);
    Eigen::MatrixXd table(bench_rows, bench_columns);
    RandomStream stream(1, "bench", 0);
    for (Index row = 0; row < bench_rows; ++row) {
      for (Index column = 0; column < bench_columns; ++column) {
        table(row, column) = stream.uniform() / (1.0 + static_cast<double>(column * column));
      }
    }
    write_npy(path("table.npy"), table);
    write_csv(table);
    if (std::system(fmt::format("gzip -1 -k {}", path("table.csv")).c_str()) != 0) std::abort();
  }
  ~Files() { fs::remove_all(folder_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  [[nodiscard]] std::string path(const char* name) const { return (folder_ / name).string(); }

 private:
  void write_csv(const Eigen::MatrixXd& table) const {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path("table.csv").c_str(), "w"),
                                                               std::fclose);
    for (Index row = 0; row < bench_rows; ++row) {
      std::string line;
      for (Index column = 0; column < bench_columns; ++column) {
        line += fmt::format("{:.16e}{}", table(row, column), column + 1 < bench_columns ? ',' : '\n');
      }
      std::fwrite(line.data(), 1, line.size(), file.get());
    }
  }

  fs::path folder_;
};

const Files& files() {
  static const Files instance;
  return instance;
}

/// `content` names the file whose size counts: for gzip, the text that comes out.
void read_table(benchmark::State& state, const char* name, const char* content) {
  const std::string path = files().path(name);
  set_threads(static_cast<int>(state.range(0)));
  RowBlock block;
  for ([[maybe_unused]] auto _ : state) {
    const auto reader = TableReader::open(path);
    double sum = 0;
    while (reader->next(block)) sum += block.values.front();
    benchmark::DoNotOptimize(sum + static_cast<double>(reader->sha256().size()));
  }
  set_threads(0);
  const double bytes = static_cast<double>(fs::file_size(files().path(content)));
  state.counters["MB/s"] =
      benchmark::Counter(1e-6 * bytes * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["MB"] = 1e-6 * bytes;
}

BENCHMARK_CAPTURE(read_table, csv, "table.csv", "table.csv")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(read_table, csv_gzip, "table.csv.gz", "table.csv")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(read_table, npy, "table.npy", "table.npy")
    ->Arg(1)
    ->Arg(2)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace surefoot::io
