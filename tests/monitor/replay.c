/* Reads a stream as `surefoot monitor` does, with the constants that `surefoot export` wrote, and prints every alarm: solve, evidence in
 * full, claim and counts of the present rate. Compiled as C99 by every compiler that is there (run.py). */
#include EXPORTED

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  static surefoot_monitor monitor;
  char line[4096];
  if (surefoot_monitor_init(&monitor, &exported) != 0) { return 2; }
  while (fgets(line, sizeof line, stdin) != NULL) {
    char *end = line;
    const double value = strtod(line, &end);
    int alarm = 0;
    if (line[strspn(line, " \t\r\n")] == '\0') { continue; }
    if (end == line || end[strspn(end, " \t\r\n")] != '\0') {
      alarm = surefoot_monitor_update(&monitor, (double)NAN);
    } else {
      alarm = surefoot_monitor_update(&monitor, value);
    }
    if (alarm) {
      const int32_t c = monitor.alarm.claim;
      printf("%llu %.17g %d %llu %llu\n", (unsigned long long)monitor.alarm.solve, monitor.alarm.evidence, (int)c,
             (unsigned long long)monitor.alarm.recent_failures[c], (unsigned long long)monitor.alarm.recent_solves[c]);
    }
  }
  printf("end %llu %.17g\n", (unsigned long long)monitor.solves, surefoot_monitor_evidence(&monitor));
  return 0;
}
