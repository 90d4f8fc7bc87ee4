#include "surefoot/learning/posterior_file.hpp"

#include "surefoot/core/random.hpp"
#include "surefoot/io/safetensors.hpp"
#include "surefoot/io/sha256.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace surefoot::learning {
namespace {

using test_support::input_error;
using test_support::TemporaryFolder;

Posterior example() {
  Posterior posterior;
  posterior.layout.blocks = {{"W", 3, 4}, {"step", 10, 1}, {"threshold", 1, 1}};
  auto& pair = posterior.gaussians;
  pair.group_size = {12, 10, 1};
  RandomStream random(1, "posterior file test", 0);
  for (Eigen::VectorXd* part : {&pair.mean, &pair.log_variance, &pair.prior_mean}) {
    part->resize(23);
    for (double& value : *part) value = random.normal();
  }
  pair.prior_log_variance.resize(3);
  pair.prior_log_variance << -1.0, 0.3, -4.0;
  posterior.grid = {50.0, 80.0};
  round_prior(posterior);
  posterior.metadata = {{"model", "toy"}, {"seed", "7"}};
  return posterior;
}

Posterior through_bytes(const io::Safetensors& content) {
  return load_posterior(*io::memory_bytes("w.safetensors", io::to_safetensors(content)));
}

// Tied weights have one variance, wherever they stand in a vector register or beside it.
TEST(Posterior, EqualLogVariancesAreEqualVariances) {
  Posterior posterior;
  RandomStream random(2, "posterior test", 0);
  for (int trial = 0; trial < 200; ++trial) {
    const double zeta = -5 * random.uniform();
    posterior.gaussians.log_variance = Eigen::VectorXd::Constant(37, zeta);
    const Eigen::VectorXd variance = posterior.variance();
    EXPECT_NEAR(variance[0] / std::exp(zeta), 1, 1e-14);
    EXPECT_EQ(variance, Eigen::VectorXd::Constant(37, variance[0])) << zeta;
  }
}

TEST(PosteriorFile, KeepsEveryBit) {
  const TemporaryFolder folder;
  const Posterior posterior = example();
  save_posterior(posterior, folder / "w.safetensors");
  const Posterior read = load_posterior(folder / "w.safetensors");
  EXPECT_EQ(read.gaussians.mean, posterior.gaussians.mean);
  EXPECT_EQ(read.gaussians.log_variance, posterior.gaussians.log_variance);
  EXPECT_EQ(read.gaussians.prior_mean, posterior.gaussians.prior_mean);
  EXPECT_EQ(read.gaussians.prior_log_variance, posterior.gaussians.prior_log_variance);
  EXPECT_EQ(read.gaussians.group_size, posterior.gaussians.group_size);
  EXPECT_EQ(read.grid.lambda_max, 50.0);
  EXPECT_EQ(read.grid.b, 80.0);
  EXPECT_EQ(read.metadata, posterior.metadata);
  require_layout(read, posterior.layout);
  EXPECT_EQ(posterior_bytes(read), posterior_bytes(posterior));
  EXPECT_EQ(io::sha256_hex(posterior_bytes(read)),
            io::sha256_hex(io::to_safetensors(io::read_safetensors(folder / "w.safetensors"))));
}

TEST(PosteriorFile, OfAnotherModelIsRefused) {
  const Posterior posterior = example();
  algorithms::WeightLayout other = posterior.layout;
  other.blocks[1].rows = 11;
  EXPECT_EQ(input_error([&] { require_layout(posterior, other); }),
            "weights: block 1 is 'step' (10 x 1), the model has 'step' (11 x 1)");
  other.blocks.pop_back();
  EXPECT_EQ(input_error([&] { require_layout(posterior, other); }), "weights: 3 blocks, the model has 2");
}

TEST(PosteriorFile, DamageIsNamed) {
  const io::Safetensors good = [] {
    const auto source = io::memory_bytes("w", posterior_bytes(example()));
    return io::read_safetensors(*source);
  }();
  const auto error = [&](const auto& change) {
    io::Safetensors changed = good;
    change(changed);
    return input_error([&] { through_bytes(changed); });
  };
  const auto tensor = [](io::Safetensors& content, std::string_view name) -> io::Tensor& {
    return const_cast<io::Tensor&>(*content.find(name));
  };
  EXPECT_EQ(error([](io::Safetensors&) {}), "(no error)");
  EXPECT_EQ(error([](io::Safetensors& c) { c.metadata.erase("surefoot.b"); }),
            "w.safetensors: __metadata__ has no 'surefoot.b'");
  EXPECT_EQ(error([](io::Safetensors& c) { c.metadata["surefoot.lambda_max"] = "-1"; }),
            "w.safetensors: 'surefoot.lambda_max' is '-1', not a positive number");
  EXPECT_EQ(error([](io::Safetensors& c) { c.metadata["surefoot.format"] = "other"; }),
            "w.safetensors: is 'other', not a surefoot-posterior 2");
  EXPECT_EQ(error([](io::Safetensors& c) { c.metadata["surefoot.later"] = "1"; }),
            "w.safetensors: this version of surefoot does not know its part 'surefoot.later'");
  EXPECT_EQ(error([](io::Safetensors& c) { c.metadata["surefoot.blocks"] = "[1"; }),
            "w.safetensors: 'surefoot.blocks' is not a list of names");
  EXPECT_EQ(error([](io::Safetensors& c) { c.metadata["surefoot.blocks"] = R"(["W","W","step"])"; }),
            "w.safetensors: 'surefoot.blocks' names block 'W' twice");
  EXPECT_EQ(error([](io::Safetensors& c) { c.metadata["surefoot.blocks"] = R"(["W","step"])"; }),
            "w.safetensors: prior_log_variance is not one number per block");
  EXPECT_EQ(error([](io::Safetensors& c) { c.tensors.pop_back(); }),
            "w.safetensors: there is no tensor 'prior_log_variance'");
  EXPECT_EQ(error([&](io::Safetensors& c) { tensor(c, "log_variance.step").name = "x"; }),
            "w.safetensors: there is no tensor 'log_variance.step'");
  EXPECT_EQ(error([&](io::Safetensors& c) {
              tensor(c, "prior_mean.W").shape = {4, 3};
            }),
            "w.safetensors: tensor 'prior_mean.W' is not 3 x 4 as its mean");
  EXPECT_EQ(error([&](io::Safetensors& c) { tensor(c, "mean.W").values[5] = std::nan(""); }),
            "w.safetensors: number 5 of tensor 'mean.W' is nan");
  EXPECT_EQ(error([](io::Safetensors& c) {
              c.tensors.push_back({"more", {1}, {0}});
            }),
            "w.safetensors: holds 11 tensors, its blocks make 10");
}

// One flipped bit anywhere is found, or changes nothing (blanks behind the header).
TEST(PosteriorFile, NoFlippedBitIsTakenForOtherWeights) {
  Posterior posterior = example();
  posterior.metadata["seen.last"] = "799";
  const std::string good = posterior_bytes(posterior);
  for (std::size_t place = 0; place < good.size(); ++place) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = good;
      bytes[place] = static_cast<char>(bytes[place] ^ (1 << bit));
      try {
        const Posterior read = load_posterior(*io::memory_bytes("w", bytes));
        EXPECT_EQ(posterior_bytes(read), good) << place << ' ' << bit;
      } catch (const InputError&) {
      }
    }
  }
}

TEST(PosteriorFile, OfFormatOneIsReadAndStaysTheSameFile) {
  const std::string path = SUREFOOT_SOURCE_DIR "/tests/certificates/v1/weights.safetensors";
  const Posterior old = load_posterior(path);
  EXPECT_FALSE(old.has_digest);
  EXPECT_EQ(posterior_sha256(old), io::sha256_of_file(path)) << "certificates name it so";
}

TEST(PosteriorFile, DigestDoesNotDependOnTheOrderOfTensors) {
  io::Safetensors content = io::read_safetensors(*io::memory_bytes("w", posterior_bytes(example())));
  std::reverse(content.tensors.begin(), content.tensors.end());
  EXPECT_EQ(posterior_bytes(through_bytes(content)), posterior_bytes(example()));
  content.metadata["seed"] = "8";
  EXPECT_EQ(input_error([&] { through_bytes(content); }),
            "w.safetensors: is damaged: its digest does not match");
}

TEST(PosteriorFile, DigestOfItsNumbersDoesNotDependOnMetadata) {
  Posterior posterior = example();
  const std::string numbers = numbers_sha256(posterior);
  const std::string file = posterior_sha256(posterior);
  posterior.metadata["seen.last"] = "12";
  EXPECT_EQ(numbers_sha256(posterior), numbers);
  EXPECT_NE(posterior_sha256(posterior), file);
  for (const auto& change : {+[](Posterior& other) { other.gaussians.mean[3] += 1e-9; },
                             +[](Posterior& other) { other.gaussians.prior_mean[0] = 0; },
                             +[](Posterior& other) { other.layout.blocks[1].name = "other"; },
                             +[](Posterior& other) { other.grid.b += 1; }}) {
    Posterior other = example();
    change(other);
    round_prior(other);
    EXPECT_NE(numbers_sha256(other), numbers);
  }
}

TEST(PosteriorFile, ReservedMetadataAreRefused) {
  Posterior posterior = example();
  posterior.metadata["surefoot.b"] = "1";
  EXPECT_EQ(input_error([&] { posterior_bytes(posterior); }),
            "posterior: metadata 'surefoot.b' begins with the reserved 'surefoot.'");
}

}  // namespace
}  // namespace surefoot::learning
