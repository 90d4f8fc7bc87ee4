#include "surefoot/io/checkpoint_file.hpp"

#include "surefoot/core/build.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/sealed_bytes.hpp"
#include "surefoot/io/text.hpp"

#include <algorithm>

namespace surefoot::io {

namespace {

constexpr std::string_view checkpoint_heading = "surefoot checkpoint ";
constexpr std::string_view checkpoint_version = "1\n";
constexpr std::size_t largest_checkpoint = std::size_t{64} << 30U;
constexpr double most_time_for_writing = 1.0 / 20;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Configuration read_configuration(ByteReader& from) {
  Configuration configuration;
  const auto entries = from.number<Index>();
  for (Index i = 0; i < entries; ++i) {
    std::string name = from.text();
    configuration.emplace_back(std::move(name), from.text());
  }
  return configuration;
}

void require_same(const Configuration& there, const Configuration& here, const std::string& name) {
  for (std::size_t i = 0; i < std::max(there.size(), here.size()); ++i) {
    const bool both = i < there.size() && i < here.size() && there[i].first == here[i].first;
    require(both, "{}: belongs to other work than this (another verb, or other options of it)", name);
    require(there[i].second == here[i].second,
            "{}: belongs to another configuration: {} is '{}' there and '{}' here", name, here[i].first,
            excerpt(there[i].second), excerpt(here[i].second));
  }
}

}  // namespace

std::string checkpoint_bytes(const Configuration& configuration, std::string_view state) {
  return checkpoint_bytes(configuration, [&](ByteWriter& to) { to.bytes(state); });
}

std::string checkpoint_bytes(const Configuration& configuration, const WriteState& write_state) {
  return sealed_bytes(std::string(checkpoint_heading) + std::string(checkpoint_version),
                      [&](ByteWriter& body) {
                        body.number(static_cast<Index>(configuration.size()));
                        for (const auto& [name, value] : configuration) {
                          body.text(name);
                          body.text(value);
                        }
                        body.text_by(write_state);
                      });
}

std::string checkpoint_state(std::string_view bytes, const std::string& name,
                             const Configuration& configuration) {
  require(bytes.starts_with(checkpoint_heading), "{}: is not a checkpoint", name);
  require(bytes.substr(checkpoint_heading.size()).starts_with(checkpoint_version),
          "{}: is a checkpoint of another version of the format; it cannot be resumed", name);
  const std::string heading = std::string(checkpoint_heading) + std::string(checkpoint_version);
  ByteReader body(sealed_body(bytes, heading, name), name);
  require_same(read_configuration(body), configuration, name);
  std::string state = body.text();
  body.finish();
  return state;
}

CheckpointFile::CheckpointFile(std::filesystem::path path, Configuration configuration, double seconds,
                               Writer writer, Seconds clock)
    : path_(std::move(path)),
      configuration_(std::move(configuration)),
      seconds_(seconds),
      writer_(writer),
      wait_(seconds),
      clock_(clock ? std::move(clock) : steady_seconds) {
  // Another build may compute other bits: what it began must not end as a mixture.
  configuration_.insert(configuration_.begin(), {"the build of the program", build_id()});
  last_ = clock_();
}

std::optional<std::string> CheckpointFile::read() const {
  if (!kept() || !std::filesystem::exists(path_)) return std::nullopt;
  return checkpoint_state(read_file(path_, largest_checkpoint), printable(path_.string()), configuration_);
}

bool CheckpointFile::due() const {
  if (!kept()) return false;
  const double since = clock_() - last_;
  return since >= wait_ || since < 0;
}

CheckpointLosses& checkpoint_losses() {
  static CheckpointLosses losses;
  return losses;
}

bool CheckpointFile::write(std::string_view state) {
  return write([&](ByteWriter& to) { to.bytes(state); });
}

bool CheckpointFile::write(const WriteState& write_state) {
  if (!kept()) return true;
  const double begin = clock_();
  const bool writes = writer_ == Writer::each || ranks().first();
  try {
    if (writes) write_own_file_atomically(path_, checkpoint_bytes(configuration_, write_state));
    lost_ = false;
  } catch (const InputError& error) {
    CheckpointLosses& losses = checkpoint_losses();
    ++losses.count;
    losses.last = error.what();
    if (!lost_ && losses.warn) losses.warn(losses.last);
    lost_ = true;
  }
  last_ = clock_();
  wait_ = std::max(seconds_, (last_ - begin) / most_time_for_writing);
  return !lost_;
}

void CheckpointFile::remove() const {
  if (kept() && (writer_ == Writer::each || ranks().first())) std::filesystem::remove(path_);
}

}  // namespace surefoot::io
