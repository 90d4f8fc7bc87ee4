#pragma once

namespace surefoot::bounds {

/// Bernoulli relative entropy kl(q||p) = q log(q/p) + (1-q) log((1-q)/(1-p)), with 0 log 0 = 0; infinite if p
/// excludes what q allows. q, p in [0, 1]. Accurate to a few ulps, also for p close to q.
double kl(double q, double p);

/// kl_inv(q, c) = sup{ p in [q, 1] : kl(q||p) <= c }, rounded outward: never below the true value and a few
/// ulps above it. kl_inv(0, c) = 1 - exp(-c), kl_inv(1, c) = 1, kl_inv(q, 0) = q.
/// q in [0, 1], c >= 0 (infinity allowed); otherwise InputError names the value.
double kl_inverse(double q, double c);

/// Value and implicit derivatives at p = kl_inv(q, c):
///   dp/dc = p(1-p)/(p-q),   dp/dq = dp/dc * ( log(p/q) + log((1-q)/(1-p)) ), both positive.
/// (The paper prints dp/dq with the opposite sign.) Infinite where the limit is (q = 0 for dp/dq, c = 0 for
/// dp/dc); dp/dq = 1 at c = 0.
struct KlInverse {
  double p;
  double dp_dq;
  double dp_dc;
};
KlInverse kl_inverse_with_derivatives(double q, double c);

}  // namespace surefoot::bounds
