#pragma once

#include "surefoot/problems/qp.hpp"

#include <cstdint>
#include <string_view>

namespace surefoot::families {

enum class Blur {
  box,       ///< nine taps of 1/8, as the paper's experiments
  gaussian,  ///< truncated Gaussian taps with sum 1
};
std::string_view to_string(Blur blur);
Blur parse_blur(std::string_view name);

struct DeblurringOptions {
  Index side = 28;  ///< images are side x side
  Blur blur = Blur::box;
  Index taps = 9;              ///< odd
  double box_value = 1.0 / 8;  ///< of each tap of the box
  double deviation = 2.0;      ///< of the Gaussian, in pixels
  double noise = 0.001;        ///< standard deviation per pixel
  double weight = 1e-4;        ///< of 1'y

  void validate() const;
};

/// Deblurring of letters: given a blurred noisy image x, minimize 1/2 ||By - x||^2 + weight 1'y, 0 <= y <= 1,
/// with B = kron(b, b), b the symmetric Toeplitz matrix of the taps with zero boundary. As a quadratic
/// program P = B'B = kron(b'b, b'b), A = I, q = weight 1 - B'x, l = 0, u = 1: only q varies. Images are rows
/// of a table, side^2 numbers in [0, 1], row by row.
class Deblurring {
 public:
  explicit Deblurring(DeblurringOptions options = {});

  [[nodiscard]] const DeblurringOptions& options() const { return options_; }
  [[nodiscard]] const problems::Matrix& blur_matrix() const { return b_; }
  /// Blurred noisy images; the noise of row i depends on (seed, first + i) only.
  [[nodiscard]] problems::Table observe(const problems::Table& images, std::uint64_t seed,
                                        Index first = 0) const;
  [[nodiscard]] problems::Qp problem(const problems::Table& observations) const;

 private:
  DeblurringOptions options_;
  problems::Matrix b_;
};

/// Handwriting-like letters, bright ink on black, `side` x side in [0, 1], one per row: skeletons of the 26
/// capital letters drawn with a pen of random width after a random affine map and a smooth elastic
/// deformation. Letter i depends on (seed, first + i) only.
problems::Table draw_letters(std::uint64_t seed, Index count, Index first = 0, Index side = 28);

}  // namespace surefoot::families
