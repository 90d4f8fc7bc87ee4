/* Simulated streams through surefoot/monitor.h, beside what most people do: the observed rate of the last 1,000 solves.
 *
 *   streams [STREAMS] [ALARMS]     STREAMS for delays and tests, ALARMS false alarms for the mean time to one
 *
 * A stream is given up after 20 A, which counts as an alarm there. Constants are those of a certified rate of 1 % (exported.h of run.py). Prints a table; the exit code is 1 where a promise is broken by
 * more than five standard errors, or a mean delay is more than 5 % above that of the specification. */
#include EXPORTED_DETECTOR
#include EXPORTED_TEST

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { window = 1000 };

static uint64_t random_state;

static double uniform(void) { /* splitmix64 */
  uint64_t z = (random_state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return (double)((z ^ (z >> 31)) >> 11) * (1.0 / 9007199254740992.0);
}

/* P(fail | past) of stream `kind`: the rate always; at most the rate at every step, depending on the past (never in the ten solves after a
 * failure); runs of failures of mean length 10 with that rate in all. */
enum { independent, dependent, in_runs };
static double rate_of(int kind, double rate, int failed_last, uint64_t quiet) {
  if (kind == dependent) { return quiet < 10 ? 0.0 : rate; }
  if (kind == in_runs) { return failed_last ? 0.9 : 0.1 * rate / (1.0 - rate); }
  return rate;
}

static int failures_of_promise = 0;

static void expect(int holds, const char *what) {
  if (!holds) {
    printf("BROKEN: %s\n", what);
    failures_of_promise += 1;
  }
}

typedef struct mean {
  double sum;
  double squares;
  long count;
} mean;
static void add(mean *of, double value) {
  of->sum += value;
  of->squares += value * value;
  of->count += 1;
}
static double average(const mean *of) { return of->sum / (double)of->count; }
static double error(const mean *of) {
  const double m = average(of);
  return sqrt((of->squares / (double)of->count - m * m) / (double)of->count);
}

static double solves_to_alarm(const surefoot_monitor_constants *constants, int kind, double rate, double limit) {
  static surefoot_monitor monitor;
  int failed = 0;
  uint64_t quiet = 1000;
  double solves = 0.0;
  if (surefoot_monitor_init(&monitor, constants) != 0) { exit(2); }
  while (solves < limit) {
    failed = uniform() < rate_of(kind, rate, failed, quiet);
    quiet = failed ? 0 : quiet + 1;
    solves += 1.0;
    if (surefoot_monitor_update_outcomes(&monitor, (uint32_t)failed)) { return solves; }
  }
  return limit + 1.0;
}

/* An alarm where `least` of the last 1,000 solves failed; before the change, the window is of a stream of 1 %. */
static double naive_solves(int least, double rate, int warm, double limit) {
  static unsigned char last[window];
  int count = 0;
  int at = 0;
  int i;
  double solves = 0.0;
  for (i = 0; i < window; ++i) {
    last[i] = (unsigned char)(warm && uniform() < 0.01);
    count += last[i];
  }
  if (warm && count >= least) { return 0.0; }
  while (solves < limit) {
    const int failed = uniform() < rate;
    count += failed - last[at];
    last[at] = (unsigned char)failed;
    at = at + 1 == window ? 0 : at + 1;
    solves += 1.0;
    if (count >= least) { return solves; }
  }
  return limit + 1.0;
}

static mean delays(int kind, double rate, long streams) {
  mean all = {0.0, 0.0, 0};
  long i;
  for (i = 0; i < streams; ++i) { add(&all, solves_to_alarm(&detector, kind, rate, 1e12)); }
  return all;
}

int main(int argc, char **argv) {
  const long streams = argc > 1 ? atol(argv[1]) : 10000;
  const long alarms = argc > 2 ? atol(argv[2]) : 100;
  static const struct {
    double rate;
    double sketch;
  } changes[] = {{0.015, 0.0}, {0.02, 2261.0}, {0.03, 0.0}, {0.05, 274.0}, {0.1, 0.0}, {0.2, 0.0}};
  size_t c;
  long i;
  random_state = 25;
  printf("Detector, certified rate 1 %%, A = 1e6, %ld streams from R = 0 at the change:\n", streams);
  for (c = 0; c < sizeof changes / sizeof changes[0]; ++c) {
    const mean all = delays(independent, changes[c].rate, streams);
    printf("  1 -> %g %%: mean delay %.0f +- %.0f\n", 100.0 * changes[c].rate, average(&all), error(&all));
    expect(changes[c].sketch <= 0.0 || average(&all) <= 1.05 * changes[c].sketch, "the delay of the specification");
  }
  {
    mean all = delays(in_runs, 0.01, streams);
    printf("  runs of failures of mean length 10, 1 %% in all (not the null): alarm after %.0f +- %.0f\n", average(&all), error(&all));
    expect(average(&all) < 1e5, "runs of failures raise alarms");
  }
  for (c = 0; c < 4; ++c) { /* many alarms at A = 1e4, fewer at A = 1e6 */
    const double arl = c < 2 ? 1e4 : 1e6;
    surefoot_monitor_constants constants = detector;
    mean all = {0.0, 0.0, 0};
    constants.threshold = 6.0 * arl;
    for (i = 0; i < (c < 2 ? streams : alarms); ++i) {
      add(&all, solves_to_alarm(&constants, c % 2 == 0 ? independent : dependent, 0.01, 20.0 * arl));
    }
    printf("  false alarms at A = %g, %s: mean time %.3g +- %.2g in %ld streams\n", arl,
           c % 2 == 0 ? "1 % always" : "at most 1 % given the past", average(&all), error(&all), all.count);
    expect(average(&all) + 5.0 * error(&all) >= arl, "the mean time to a false alarm");
  }
  printf("Test, alpha = 0.01, %ld streams of 20,000 solves:\n", streams);
  for (c = 0; c < 2; ++c) {
    long ever = 0;
    for (i = 0; i < streams; ++i) { ever += solves_to_alarm(&test, c == 0 ? independent : dependent, 0.01, 20000.0) <= 20000.0; }
    printf("  ever a false alarm, %s: %.2f %%, promised 1 %%\n", c == 0 ? "1 % always" : "at most 1 % given the past",
           100.0 * (double)ever / (double)streams);
    expect((double)ever <= 0.01 * (double)streams + 5.0 * sqrt(0.01 * (double)streams), "the probability of ever a false alarm");
  }
  if (alarms >= 100) { /* the fewest failures among 1,000 with the promised mean time, and its delays */
    int least;
    for (least = 22;; ++least) {
      mean all = {0.0, 0.0, 0};
      for (i = 0; i < alarms; ++i) { add(&all, naive_solves(least, 0.01, 0, 1e12)); }
      printf("Observed rate of the last 1,000, alarm at %d failures: mean time to a false alarm %.3g +- %.2g\n", least, average(&all),
             error(&all));
      if (average(&all) >= 1e6) { break; }
    }
    for (c = 0; c < sizeof changes / sizeof changes[0]; ++c) {
      mean all = {0.0, 0.0, 0};
      for (i = 0; i < streams; ++i) { add(&all, naive_solves(least, changes[c].rate, 1, 1e12)); }
      printf("  1 -> %g %%: mean delay %.0f +- %.0f\n", 100.0 * changes[c].rate, average(&all), error(&all));
    }
  }
  { /* as a controller calls it: a metric, nearly always below the tolerance */
    static surefoot_monitor monitor;
    static double values[4096];
    const long updates = 20000000;
    clock_t begin;
    long raised = 0;
    int round;
    double best = 1e9;
    for (i = 0; i < 4096; ++i) { values[i] = uniform() < 0.01 ? 1e300 : -1e300; }
    for (round = 0; round < 3; ++round) {
      if (surefoot_monitor_init(&monitor, &detector) != 0) { return 2; }
      begin = clock();
      for (i = 0; i < updates; ++i) { raised += surefoot_monitor_update(&monitor, values[i & 4095]); }
      best = fmin(best, 1e9 * (double)(clock() - begin) / CLOCKS_PER_SEC / (double)updates);
    }
    printf("An update takes %.1f ns (%ld alarms, state of %lu bytes)\n", best, raised, (unsigned long)sizeof monitor);
  }
  return failures_of_promise > 0;
}
