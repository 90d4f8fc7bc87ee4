// Any bytes as a checkpoint; and, sealed with a checksum that fits, as the states inside one.
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/index_ranges.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/learning/train_state.hpp"
#include "surefoot/runs/tally.hpp"

#include "fuzz_support.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surefoot;
  const std::string bytes = fuzz::text_of(data, size);
  const io::Configuration work{{"work", "fuzz"}};
  fuzz::message_of([&] { (void)io::checkpoint_state(bytes, "c", work); });
  if (io::checkpoint_state(io::checkpoint_bytes(work, bytes), "c", work) != bytes) std::abort();

  runs::TallySpec spec;
  spec.steps = {1, 2, 5};
  spec.tolerances = {0.1, 1.0};
  spec.claim_columns = {1, 2};
  fuzz::message_of([&] {
    runs::Tally tally = runs::Tally::from_state(spec, bytes);
    const std::string again = tally.state();
    if (runs::Tally::from_state(spec, again).state() != again) std::abort();
    if (tally.samples() > 0) (void)tally.values(0).order_statistic(1);
  });
  fuzz::message_of([&] {
    ByteReader from(bytes, "ranges");
    const IndexRanges ranges = IndexRanges::read_state(from);
    if (ranges.size() < 0) std::abort();
  });
  fuzz::message_of([&] {
    learning::TrainState state;
    state.mean = state.log_variance = Eigen::VectorXd::Zero(3);
    state.prior_log_variance = Eigen::VectorXd::Zero(1);
    state.mean_adam = state.variance_adam = learning::Adam(3);
    learning::restore_state(bytes, state);
    if (learning::state_bytes(state) != bytes) std::abort();
  });
  return 0;
}
