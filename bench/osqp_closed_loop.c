/* A closed loop over the C library OSQP, for bench/closed_loop.py --osqp: one solver that is set up once, starts kept.

   osqp_closed_loop FILE: numbers as text: rollouts, ticks, limit, states, the variable that is applied and how large it may be; P (its
   upper triangle) and A as rows, columns, entries, column pointers, row indices, values; q, l, u; A and B of the plant; a row of
   initial states for each rollout; a row of disturbances for each tick of each rollout. The first rows of l and u are the state.
   Writes, as text, seconds of processor time for the whole loop, then the inputs. */
#include <osqp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE* input;

static double number(void) {
  double value;
  if (fscanf(input, "%lf", &value) != 1) exit(2);
  return value;
}

static double* numbers(size_t count) {
  double* values = malloc(count * sizeof *values);
  for (size_t i = 0; i < count; ++i) values[i] = number();
  return values;
}

static OSQPInt* places(size_t count) {
  OSQPInt* values = malloc(count * sizeof *values);
  for (size_t i = 0; i < count; ++i) values[i] = (OSQPInt)number();
  return values;
}

static OSQPCscMatrix* matrix(void) {
  const OSQPInt rows = (OSQPInt)number(), columns = (OSQPInt)number(), entries = (OSQPInt)number();
  OSQPInt* begins = places((size_t)columns + 1);
  OSQPInt* of_rows = places((size_t)entries);
  OSQPCscMatrix* made = calloc(1, sizeof *made);
  OSQPCscMatrix_set_data(made, rows, columns, entries, numbers((size_t)entries), of_rows, begins);
  return made;
}

int main(int count, char** arguments) {
  if (count != 2 || !(input = fopen(arguments[1], "r"))) return 2;
  const size_t rollouts = (size_t)number(), ticks = (size_t)number();
  const OSQPInt limit = (OSQPInt)number();
  const size_t states = (size_t)number(), applied = (size_t)number();
  const double most = number();
  OSQPCscMatrix* P = matrix();
  OSQPCscMatrix* A = matrix();
  double *q = numbers((size_t)P->n), *l = numbers((size_t)A->m), *u = numbers((size_t)A->m);
  double *plant_A = numbers(states * states), *plant_B = numbers(states);
  double *initial = numbers(rollouts * states), *disturbances = numbers(rollouts * ticks * states);
  double* inputs = malloc(rollouts * ticks * sizeof *inputs);
  double *state = malloc(states * sizeof *state), *next = malloc(states * sizeof *next);
  double *x = calloc((size_t)P->n, sizeof *x), *y = calloc((size_t)A->m, sizeof *y);

  OSQPSettings settings;
  osqp_set_default_settings(&settings);
  settings.verbose = 0;
  settings.max_iter = limit;
  settings.adaptive_rho = 0;
  settings.check_termination = 0;
  OSQPSolver* solver;
  if (osqp_setup(&solver, P, q, A, l, u, A->m, P->n, &settings) != 0) return 1;

  const clock_t begin = clock();
  for (size_t rollout = 0; rollout < rollouts; ++rollout) {
    memcpy(state, initial + rollout * states, states * sizeof *state);
    osqp_warm_start(solver, x, y);
    for (size_t tick = 0; tick < ticks; ++tick) {
      for (size_t i = 0; i < states; ++i) l[i] = u[i] = state[i];
      osqp_update_data_vec(solver, NULL, l, u);
      osqp_solve(solver);
      double input_now = solver->solution->x[applied];
      if (input_now < -most) input_now = -most;
      if (input_now > most) input_now = most;
      inputs[rollout * ticks + tick] = input_now;
      for (size_t i = 0; i < states; ++i) {
        next[i] = plant_B[i] * input_now + disturbances[(rollout * ticks + tick) * states + i];
        for (size_t j = 0; j < states; ++j) next[i] += plant_A[i * states + j] * state[j];
      }
      memcpy(state, next, states * sizeof *state);
    }
  }
  printf("%.9g\n", (double)(clock() - begin) / CLOCKS_PER_SEC);
  for (size_t i = 0; i < rollouts * ticks; ++i) printf("%.17g\n", inputs[i]);
  return 0;
}
