#include "paper_tables.hpp"

namespace paper {
namespace {

// clang-format off
constexpr std::array<Row, 9> kalman_residual{{
    {30, 0.01, 135, 6.4e7, {{156, 146, 144}}},
    {30, 0.001, 220, 6.4e9, {{239, 230, 229}}},
    {30, 0.0001, 308, 6.4e11, {{327, 321, 319}}},
    {90, 0.01, 144, 6.4e7, {{none, 158, 154}}},
    {90, 0.001, 228, 6.4e9, {{none, 243, 238}}},
    {90, 0.0001, 317, 6.4e11, {{none, 335, 328}}},
    {99, 0.01, 150, 6.4e7, {{none, none, 162}}},
    {99, 0.001, 233, 6.4e9, {{none, none, 247}}},
    {99, 0.0001, 324, 6.4e11, {{none, none, 336}}},
}};

constexpr std::array<Row, 9> kalman_pairs{{
    {30, 0.01, 81, no_worst_case, {{117, 92, 80}}},
    {30, 0.001, 147, no_worst_case, {{193, 164, 156}}},
    {30, 0.0001, 228, no_worst_case, {{270, 236, 235}}},
    {90, 0.01, 103, no_worst_case, {{none, 144, 121}}},
    {90, 0.001, 175, no_worst_case, {{none, 222, 194}}},
    {90, 0.0001, 250, no_worst_case, {{none, 307, 267}}},
    {99, 0.01, 116, no_worst_case, {{none, none, 150}}},
    {99, 0.001, 176, no_worst_case, {{none, none, 222}}},
    {99, 0.0001, 251, no_worst_case, {{none, none, 311}}},
}};

constexpr std::array<Row, 9> letters_residual{{
    {30, 0.01, 217, 80932, {{383, 289, 270}}},
    {30, 0.001, 1342, 95975, {{2903, 1938, 1674}}},
    {30, 0.0001, 8343, 108779, {{15765, 11597, 10512}}},
    {90, 0.01, 285, 80932, {{none, 383, 362}}},
    {90, 0.001, 2166, 95975, {{none, 3274, 2816}}},
    {90, 0.0001, 12415, 108779, {{none, 17018, 15161}}},
    {99, 0.01, 320, 80932, {{none, none, 508}}},
    {99, 0.001, 2615, 95975, {{none, none, 4046}}},
    {99, 0.0001, 14523, 108779, {{none, none, 17283}}},
}};

constexpr std::array<Row, 9> letters_nmse{{
    {30, -20, 152, no_worst_case, {{985, 290, 210}}},
    {30, -30, 701, no_worst_case, {{2707, 1285, 916}}},
    {30, -40, 2688, no_worst_case, {{5919, 4016, 3236}}},
    {90, -20, 698, no_worst_case, {{none, 1497, 985}}},
    {90, -30, 2392, no_worst_case, {{none, 3885, 2950}}},
    {90, -40, 5922, no_worst_case, {{none, 8050, 6964}}},
    {99, -20, 1338, no_worst_case, {{none, none, 2731}}},
    {99, -30, 3765, no_worst_case, {{none, none, 6707}}},
    {99, -40, 8241, no_worst_case, {{none, none, 12077}}},
}};

constexpr std::array<CodingRow, 7> codes{{
    {10, -0.93, -1.99, {-38.09, -37.0}, {-36.79, -34.0}, {-43.96, -43.0}, {-2.2, -1.0}},
    {30, -0.53, -1.86, {-36.38, -35.0}, {-34.48, -32.0}, {-42.74, -42.0}, {-1.82, -1.0}},
    {50, -0.39, -1.78, {-35.06, -33.0}, {-33.05, -31.0}, {-41.78, -41.0}, {-1.57, -1.0}},
    {60, -0.31, -1.73, {-34.52, -32.0}, {-32.31, -30.0}, {-41.33, -40.0}, {-1.46, 0}},
    {80, -0.16, -1.66, {-31.99, -30.0}, {-30.08, -27.0}, {-40.15, -39.0}, {-1.22, 0}},
    {90, -0.09, -1.61, {-29.82, -27.0}, {-28.58, -22.0}, {-39.19, -38.0}, {-1.04, 0}},
    {95, 0, -1.54, {-29.06, -23.0}, {-27.38, -18.0}, {-38.37, -36.0}, {-0.92, 0}},
}};

// clang-format on

}  // namespace

Table robust_kalman_residual() {
  return kalman_residual;
}
Table robust_kalman_pairs() {
  return kalman_pairs;
}
Table deblurring_residual() {
  return letters_residual;
}
Table deblurring_nmse() {
  return letters_nmse;
}

std::span<const CodingRow> sparse_coding() {
  return codes;
}

surefoot::Index bound_from(const Row& row, surefoot::Index samples) {
  for (std::size_t i = 0; i < sample_sizes.size(); ++i) {
    if (sample_sizes[i] == samples) return row.bounds[i];
  }
  return none;
}

}  // namespace paper
