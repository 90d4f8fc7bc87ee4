/*
 * surefoot/monitor.h: says, inside a controller, when a certified failure rate no longer holds.
 *
 * One C99 header without dependencies: no allocation, no library call, no recursion, loops of fixed length. Constants come from
 *
 *     surefoot export certificate.json --claim "99% below 1e-3 after 20" --c residual_monitor.h
 *
 * and a controller does
 *
 *     static surefoot_monitor monitor;
 *     surefoot_monitor_init(&monitor, &residual_monitor);            once: 0 if the constants can be used
 *     if (surefoot_monitor_update(&monitor, residual)) { ... }       after each solve: 1 is an alarm
 *
 * With x_t = 1 where solve t fails a claim, r the certified rate of the claim and odds m in {1.5, 2, 3, 5, 8, 15}, the likelihood ratio
 * of theta, whose odds are m times those of r, is
 *
 *     L_t(m) = m / (1 + (m - 1) r)  if x_t = 1,      1 / (1 + (m - 1) r)  if x_t = 0.
 *
 * Detector (Shiryaev-Roberts):  R_t(m) = (1 + R_{t-1}(m)) L_t(m), R_0 = 0; all of them 0 again after an alarm.
 * Test (mixture martingale):    M_t(m) = M_{t-1}(m) L_t(m), M_0 = 1; at most one alarm.
 * Evidence is the mean over m, and over claims if there are several; an alarm is a solve that fails and has evidence at or above the
 * threshold: A of the detector, 1 / alpha of the test. If P(x_t = 1 | past) <= r at every t, for each claim, then the mean number of
 * solves to an alarm of the detector is at least A, and the test ever alarms with probability at most alpha.
 *
 * Rounding: the exported ratios are below the true ones by at least 8 units of rounding (2^-53), a step makes an error of at most two
 * and only values below 2^512 are kept, so the evidence is never above the true one; the threshold is rounded up by what their sum may
 * gain. Decisions are the same bits on every machine whose double is IEEE 754 binary64 and that computes in it.
 *
 * A monitor is not safe to share between threads without a lock.
 */
#ifndef SUREFOOT_MONITOR_H
#define SUREFOOT_MONITOR_H

#include <float.h>
#include <stdint.h>

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "surefoot/monitor.h: NaN must stay a failure: compile without -ffast-math and -ffinite-math-only"
#endif
#if DBL_MANT_DIG != 53 || DBL_MAX_EXP != 1024
#error "surefoot/monitor.h: needs a double of 64 bits (IEEE 754 binary64)"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define SUREFOOT_MONITOR_FORMAT 1  /* of the constants */
#define SUREFOOT_MONITOR_RATIOS 6  /* values of m */
#define SUREFOOT_MONITOR_CLAIMS 16 /* at most */

/* 2^512 and 2^-512: evidence is kept between them. */
#define SUREFOOT_MONITOR_LARGEST 13407807929942597099574024998205846127479365820592393377723561443721764030073546976801874298166903427690031858186486050853753882811946569946433649006084096.0
#define SUREFOOT_MONITOR_SMALLEST (1.0 / SUREFOOT_MONITOR_LARGEST)

/* A claim: a solve fails unless its metric is below (strict) or at most `value`. */
typedef struct surefoot_monitor_claim {
  double value;
  double rate;                               /* certified: r */
  double succeeded[SUREFOOT_MONITOR_RATIOS]; /* L(m) of a solve that did not fail, rounded down */
  double failed[SUREFOOT_MONITOR_RATIOS];    /* L(m) of one that did */
  int32_t strict;
} surefoot_monitor_claim;

/* What `surefoot export` writes. */
typedef struct surefoot_monitor_constants {
  int32_t format;
  int32_t is_test; /* 0: detector */
  int32_t claims;
  double threshold; /* of the sum over claims and m, rounded up */
  double weight;    /* evidence is weight * sum */
  const surefoot_monitor_claim *claim;
} surefoot_monitor_constants;

typedef struct surefoot_monitor_claim_state {
  double evidence[SUREFOOT_MONITOR_RATIOS]; /* R(m), or M(m) * 2^(512 scale) */
  int64_t scale[SUREFOOT_MONITOR_RATIOS];   /* 0 or below */
  double recent;                            /* max(1, recent) L(2): a cumulative sum, which says since when */
  uint64_t recent_solves;
  uint64_t recent_failures;
  uint64_t failures; /* in all */
} surefoot_monitor_claim_state;

/* The last alarm. `recent` counts, for each claim, are of the solves since its rate seems to have changed: their quotient estimates the
 * present rate. */
typedef struct surefoot_monitor_alarm {
  uint64_t solve; /* the first is 1 */
  double evidence;
  int32_t claim; /* the one with the largest evidence, from 0 */
  uint64_t recent_solves[SUREFOOT_MONITOR_CLAIMS];
  uint64_t recent_failures[SUREFOOT_MONITOR_CLAIMS];
} surefoot_monitor_alarm;

typedef struct surefoot_monitor {
  const surefoot_monitor_constants *constants;
  uint64_t solves;
  uint64_t alarms;
  double sum; /* of all claims and m, after the last solve; 0 after an alarm of the detector */
  surefoot_monitor_claim_state claim[SUREFOOT_MONITOR_CLAIMS];
  surefoot_monitor_alarm alarm;
} surefoot_monitor;

/* Evidence as it is before the first solve. */
static inline void surefoot_monitor_restart(surefoot_monitor *monitor) {
  const double begin = monitor->constants->is_test ? 1.0 : 0.0;
  int32_t c;
  int32_t i;
  monitor->sum = 0.0;
  for (c = 0; c < monitor->constants->claims; ++c) {
    surefoot_monitor_claim_state *state = &monitor->claim[c];
    for (i = 0; i < SUREFOOT_MONITOR_RATIOS; ++i) {
      state->evidence[i] = begin;
      state->scale[i] = 0;
      monitor->sum += begin;
    }
    state->recent = 1.0;
    state->recent_solves = 0;
    state->recent_failures = 0;
  }
}

/* 0, or -1 if the constants are of another format or out of range: then the monitor must not be used. */
static inline int surefoot_monitor_init(surefoot_monitor *monitor, const surefoot_monitor_constants *constants) {
  int32_t c;
  int32_t i;
  if (constants->format != SUREFOOT_MONITOR_FORMAT || constants->claims < 1 || constants->claims > SUREFOOT_MONITOR_CLAIMS ||
      !(constants->threshold > 0.0 && constants->threshold < SUREFOOT_MONITOR_LARGEST) ||
      !(constants->weight > 0.0 && constants->weight <= 1.0)) {
    return -1;
  }
  for (c = 0; c < constants->claims; ++c) {
    const surefoot_monitor_claim *claim = &constants->claim[c];
    for (i = 0; i < SUREFOOT_MONITOR_RATIOS; ++i) {
      const double least = constants->is_test ? 0.03125 : 0.0;
      if (!(claim->succeeded[i] >= least && claim->succeeded[i] <= 1.0)) { return -1; }
      if (!(claim->failed[i] >= 0.5 && claim->failed[i] <= SUREFOOT_MONITOR_LARGEST)) { return -1; }
    }
    monitor->claim[c].failures = 0;
  }
  monitor->constants = constants;
  monitor->solves = 0;
  monitor->alarms = 0;
  monitor->alarm.solve = 0;
  monitor->alarm.evidence = 0.0;
  monitor->alarm.claim = 0;
  surefoot_monitor_restart(monitor);
  return 0;
}

/* Bit c is set where a solve with this metric fails claim c. NaN fails all of them. */
static inline uint32_t surefoot_monitor_failures(const surefoot_monitor *monitor, double metric) {
  uint32_t failed = 0;
  int32_t c;
  for (c = 0; c < monitor->constants->claims; ++c) {
    const surefoot_monitor_claim *claim = &monitor->constants->claim[c];
    const int holds = claim->strict ? metric < claim->value : metric <= claim->value;
    if (!holds) { failed |= (uint32_t)1 << (uint32_t)c; }
  }
  return failed;
}

/* One step of the evidence of a claim; returns its sum over m. */
static inline double surefoot_monitor_step(surefoot_monitor_claim_state *state, const double *ratio, int32_t is_test, uint32_t failed) {
  double sum = 0.0;
  double recent = state->recent * ratio[1];
  int32_t i;
  for (i = 0; i < SUREFOOT_MONITOR_RATIOS; ++i) {
    double next = (is_test ? state->evidence[i] : 1.0 + state->evidence[i]) * ratio[i];
    if (next > SUREFOOT_MONITOR_LARGEST) {
      if (state->scale[i] < 0) {
        next *= SUREFOOT_MONITOR_SMALLEST;
        state->scale[i] += 1;
      } else {
        next = SUREFOOT_MONITOR_LARGEST;
      }
    } else if (is_test && next < SUREFOOT_MONITOR_SMALLEST) {
      next *= SUREFOOT_MONITOR_LARGEST;
      state->scale[i] -= 1;
    }
    state->evidence[i] = next;
    sum += state->scale[i] == 0 ? next : 0.0;
  }
  if (recent <= 1.0) {
    state->recent = 1.0;
    state->recent_solves = 0;
    state->recent_failures = 0;
  } else {
    state->recent = recent > SUREFOOT_MONITOR_LARGEST ? SUREFOOT_MONITOR_LARGEST : recent;
    state->recent_solves += 1;
    state->recent_failures += failed;
  }
  state->failures += failed;
  return sum;
}

/* Takes a solve into account, bit c of `failed` set where it fails claim c; returns the new sum. For those who decide otherwise. */
static inline double surefoot_monitor_advance(surefoot_monitor *monitor, uint32_t failed) {
  const surefoot_monitor_constants *constants = monitor->constants;
  double sum = 0.0;
  int32_t c;
  monitor->solves += 1;
  for (c = 0; c < constants->claims; ++c) {
    const surefoot_monitor_claim *claim = &constants->claim[c];
    const uint32_t fails = (failed >> (uint32_t)c) & (uint32_t)1;
    sum += surefoot_monitor_step(&monitor->claim[c], fails ? claim->failed : claim->succeeded, constants->is_test, fails);
  }
  monitor->sum = sum;
  return sum;
}

/* Evidence of one claim: its mean over m. */
static inline double surefoot_monitor_claim_evidence(const surefoot_monitor *monitor, int32_t claim) {
  const surefoot_monitor_claim_state *state = &monitor->claim[claim];
  double sum = 0.0;
  int32_t i;
  for (i = 0; i < SUREFOOT_MONITOR_RATIOS; ++i) { sum += state->scale[i] == 0 ? state->evidence[i] : 0.0; }
  return sum / SUREFOOT_MONITOR_RATIOS;
}

/* Writes the alarm down; the detector starts again. */
static inline void surefoot_monitor_raise(surefoot_monitor *monitor, double evidence) {
  double most = -1.0;
  int32_t c;
  monitor->alarms += 1;
  monitor->alarm.solve = monitor->solves;
  monitor->alarm.evidence = evidence;
  for (c = 0; c < monitor->constants->claims; ++c) {
    const double own = surefoot_monitor_claim_evidence(monitor, c);
    if (own > most) {
      most = own;
      monitor->alarm.claim = c;
    }
    monitor->alarm.recent_solves[c] = monitor->claim[c].recent_solves;
    monitor->alarm.recent_failures[c] = monitor->claim[c].recent_failures;
  }
  if (!monitor->constants->is_test) { surefoot_monitor_restart(monitor); }
}

/* The evidence after the last solve; after an alarm of the detector it begins again, and alarm.evidence has what it was. */
static inline double surefoot_monitor_evidence(const surefoot_monitor *monitor) { return monitor->constants->weight * monitor->sum; }

/* Takes a solve into account, bit c of `failed` set where it fails claim c. 1: alarm. */
static inline int surefoot_monitor_update_outcomes(surefoot_monitor *monitor, uint32_t failed) {
  const double sum = surefoot_monitor_advance(monitor, failed);
  if (failed == 0 || !(sum >= monitor->constants->threshold)) { return 0; }
  if (monitor->constants->is_test && monitor->alarms > 0) { return 0; }
  surefoot_monitor_raise(monitor, monitor->constants->weight * sum);
  return 1;
}

/* Takes the metric of a solve into account. 1: alarm. */
static inline int surefoot_monitor_update(surefoot_monitor *monitor, double metric) {
  return surefoot_monitor_update_outcomes(monitor, surefoot_monitor_failures(monitor, metric));
}

#ifdef __cplusplus
}
#endif

#endif
