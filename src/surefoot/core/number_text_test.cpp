#include "surefoot/core/number_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

namespace surefoot {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double read(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

/// The share that a printed percentage stands for.
double read_percent(const std::string& text) {
  return read(text.substr(0, text.find(' ')) + "e-2");
}

TEST(Labels, AreShortAndExact) {
  EXPECT_EQ(exact_label(1e-3), "1e-3");
  EXPECT_EQ(exact_label(0.001), "1e-3");
  EXPECT_EQ(exact_label(1e-2), "1e-2");
  EXPECT_EQ(exact_label(0.1), "0.1");
  EXPECT_EQ(exact_label(0.05), "0.05");
  EXPECT_EQ(exact_label(2.5e-6), "2.5e-6");
  EXPECT_EQ(exact_label(250), "250");
  EXPECT_EQ(exact_label(1e6), "1e6");
  EXPECT_EQ(exact_label(-20), "-20");
  EXPECT_EQ(exact_label(0), "0");
  EXPECT_EQ(exact_label(-0.0), "0");
  EXPECT_EQ(exact_label(infinity), "inf");
  EXPECT_EQ(exact_label(not_a_number), "-");
  EXPECT_EQ(percent_label(0.9), "90 %");
  EXPECT_EQ(percent_label(0.995), "99.5 %");
  EXPECT_EQ(percent_label(0.57), "57 %");
  EXPECT_EQ(percent_label(0.999999999999), "99.9999999999 %");  // not 100 %
  EXPECT_EQ(confidence_label(0.0081), "0.9919");
  EXPECT_EQ(confidence_label(1.0 - 0.99028), "0.99028");
  EXPECT_EQ(confidence_label(0.01), "0.99");
  EXPECT_EQ(confidence_label(1e-4), "0.9999");
  EXPECT_EQ(count_label(999), "999");
  EXPECT_EQ(count_label(50000), "50,000");
  EXPECT_EQ(count_label(1234567), "1,234,567");
}

TEST(Labels, ReadBackAsTheSameNumber) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-300, 300);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::pow(10.0, exponent(random)) * (i % 2 == 0 ? 1 : -1);
    ASSERT_EQ(read(exact_label(value)), value);
  }
}

TEST(UpperBound, IsRoundedUpToThreeDigits) {
  EXPECT_EQ(upper_bound_value(1.2301e-5), "1.24e-5");
  EXPECT_EQ(upper_bound_value(9.991e-4), "1.00e-3");
  EXPECT_EQ(upper_bound_value(1e-3), "1.00e-3");
  EXPECT_EQ(upper_bound_value(0.12345), "0.124");
  EXPECT_EQ(upper_bound_value(99.91), "100");
  EXPECT_EQ(upper_bound_value(1234.5), "1240");
  EXPECT_EQ(upper_bound_value(-23.456), "-23.4");
  EXPECT_EQ(upper_bound_value(0), "0");
  EXPECT_EQ(upper_bound_value(infinity), "-");
  EXPECT_EQ(upper_bound_value(not_a_number), "-");
  EXPECT_EQ(observed_value(infinity), "inf");
  EXPECT_EQ(observed_value(1.2301e-5), "1.23e-5");
}

TEST(UpperBound, IsNeverPrintedStrongerThanItIs) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> exponent(-320, 308);
  for (int i = 0; i < 50000; ++i) {
    const double value = std::pow(10.0, i % 3 == 0 ? exponent(random) : exponent(random) / 60);
    for (const double bound : {value, -value}) {
      const double printed = read(upper_bound_value(bound));
      ASSERT_GE(printed, bound);
      if (value > 1e-300) {
        ASSERT_LE(printed - bound, 0.0101 * value);
      }
    }
  }
}

TEST(LowerBound, IsRoundedDownToThreeDigits) {
  EXPECT_EQ(lower_bound_value(1.2399e-5), "1.23e-5");
  EXPECT_EQ(lower_bound_value(-8.685889638065037), "-8.69");
  EXPECT_EQ(lower_bound_value(0.12999), "0.129");
  EXPECT_EQ(lower_bound_value(-infinity), "-");
  EXPECT_EQ(lower_bound_value(not_a_number), "-");
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-300, 300);
  for (int i = 0; i < 50000; ++i) {
    const double value = std::pow(10.0, i % 3 == 0 ? exponent(random) : exponent(random) / 60);
    for (const double bound : {value, -value}) {
      const double printed = read(lower_bound_value(bound));
      ASSERT_LE(printed, bound);
      ASSERT_LE(bound - printed, 0.0101 * value);
    }
  }
}

TEST(UpperBoundCount, IsTheNextWholeNumberOrRoundedUp) {
  EXPECT_EQ(upper_bound_count(1520.0000001), "1521");
  EXPECT_EQ(upper_bound_count(12), "12");
  EXPECT_EQ(upper_bound_count(1.2301e9), "1.24e9");
  EXPECT_EQ(upper_bound_count(infinity), "-");
  std::mt19937_64 random(6);
  std::uniform_real_distribution<double> exponent(0, 30);
  for (int i = 0; i < 20000; ++i) {
    const double count = std::pow(10.0, exponent(random));
    ASSERT_GE(read(upper_bound_count(count)), count);
  }
}

TEST(Confidence, IsNeverPrintedLargerThanItIs) {
  EXPECT_EQ(confidence_label(1e-7), "0.9999999");  // not 1
  EXPECT_EQ(confidence_label(1e-12), "1 - 1e-12");
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-9, -0.01);
  for (int i = 0; i < 50000; ++i) {
    const double delta = std::pow(10.0, exponent(random));
    const double printed = read(confidence_label(delta));
    ASSERT_LE(printed, std::nextafter(1 - delta, 2.0)) << delta;  // the subtraction itself may round
    ASSERT_LT(printed, 1.0);
    ASSERT_GE(printed, 1 - delta - 1e-11);
  }
}

TEST(LowerBoundPercent, IsRoundedDown) {
  EXPECT_EQ(lower_bound_percent(0.98199), "98.1 %");
  EXPECT_EQ(lower_bound_percent(0.981), "98.1 %");
  EXPECT_EQ(lower_bound_percent(0.99996), "99.996 %");
  EXPECT_EQ(lower_bound_percent(0.99989), "99.98 %");
  EXPECT_EQ(lower_bound_percent(0.9999999), "99.999 %");
  EXPECT_EQ(lower_bound_percent(0.0004), "0.0 %");
  EXPECT_EQ(lower_bound_percent(1), "100 %");
  EXPECT_EQ(lower_bound_percent(0), "-");
  EXPECT_EQ(lower_bound_percent(not_a_number), "-");
}

TEST(LowerBoundPercent, IsNeverPrintedStrongerThanItIs) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 50000; ++i) {
    const double share = i % 2 == 0 ? uniform(random) : 1 - std::pow(10.0, -8 * uniform(random));
    if (share <= 0) continue;
    ASSERT_LE(read_percent(lower_bound_percent(share)), share) << share;
    ASSERT_GE(read_percent(lower_bound_percent(share)), share - 0.001001) << share;
  }
}

TEST(UpperBoundPercent, IsRoundedUp) {
  EXPECT_EQ(upper_bound_percent(0.98101), "98.2 %");
  EXPECT_EQ(upper_bound_percent(0.981), "98.1 %");
  EXPECT_EQ(upper_bound_percent(0), "0.0 %");
  EXPECT_EQ(upper_bound_percent(1e-9), "0.1 %");
  EXPECT_EQ(upper_bound_percent(1), "-");
  EXPECT_EQ(upper_bound_percent(0.999996), "-");  // rounded up it says nothing
  EXPECT_EQ(upper_bound_percent(not_a_number), "-");
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 50000; ++i) {
    const double share = i % 2 == 0 ? uniform(random) : 1 - std::pow(10.0, -8 * uniform(random));
    if (share > 0.99999) continue;
    ASSERT_GE(read_percent(upper_bound_percent(share)), share) << share;
    ASSERT_LE(read_percent(upper_bound_percent(share)), share + 0.001001) << share;
  }
}

TEST(ObservedPercent, IsAllOnlyIfItIsAll) {
  EXPECT_EQ(observed_percent(0.5), "50.0 %");
  EXPECT_EQ(observed_percent(0.99999), "99.999 %");
  EXPECT_EQ(observed_percent(0.9999999), "99.999 %");
  EXPECT_EQ(observed_percent(1), "100 %");
  EXPECT_EQ(observed_percent(0.9986), "99.9 %");
  EXPECT_EQ(observed_percent(not_a_number), "-");
}

TEST(FiveDigitsUp, IsNeverBelowAndShort) {
  EXPECT_EQ(five_digits_up(1.23456789e-5), 1.2346e-5);
  EXPECT_EQ(five_digits_up(-1.23456789), -1.2345);
  EXPECT_EQ(five_digits_up(1.2345), 1.2345);
  EXPECT_EQ(five_digits_up(99999.1), 100000);
  EXPECT_EQ(five_digits_up(0), 0);
  EXPECT_EQ(five_digits_up(infinity), infinity);
  for (double value = 1e-320; value < 1e300; value *= 1.37e3) {
    for (const double signed_value : {value, -value}) {
      EXPECT_GE(five_digits_up(signed_value), signed_value);
      EXPECT_LE(five_digits_up(signed_value), signed_value + 1.0001e-4 * std::abs(value) + 1e-323);
    }
  }
}

TEST(FullPrecision, KeepsEveryBit) {
  EXPECT_EQ(read(full_precision(0.1)), 0.1);
  EXPECT_EQ(full_precision(infinity), "inf");
  EXPECT_EQ(full_precision(-infinity), "-inf");
  EXPECT_EQ(full_precision(not_a_number), "nan");
}

}  // namespace
}  // namespace surefoot
