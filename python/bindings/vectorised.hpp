#pragma once

#include "surefoot/core/parallel.hpp"

#include "arrays.hpp"
#include "interruptible.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace surefoot::python {

/// Numbers of one type: a Python number as it is, or anything else as an array.
template <class Number>
struct Argument;

template <>
struct Argument<double> {
  using Array = Reals;
  static bool is_plain(pybind11::handle given) {
    return PyFloat_Check(given.ptr()) != 0 || PyLong_CheckExact(given.ptr()) != 0;
  }
  static double plain(pybind11::handle given) {
    const double value = PyFloat_AsDouble(given.ptr());
    if (value == -1 && PyErr_Occurred() != nullptr) throw pybind11::error_already_set();
    return value;
  }
  static Array array(pybind11::handle given, const char* name) { return real_array(given, name); }
};

template <>
struct Argument<Index> {
  using Array = Integers;
  static bool is_plain(pybind11::handle given) {
    return PyLong_CheckExact(given.ptr()) != 0;  // a bool is no count
  }
  static Index plain(pybind11::handle given) {
    const Index value = PyLong_AsLongLong(given.ptr());
    if (value == -1 && PyErr_Occurred() != nullptr) throw pybind11::error_already_set();
    return value;
  }
  static Array array(pybind11::handle given, const char* name) { return integer_array(given, name); }
};

/// NumPy's broadcasting of C-contiguous arrays: where element `flat` of the result lies in each of them.
template <std::size_t Count>
class Broadcast {
 public:
  explicit Broadcast(const std::array<pybind11::array, Count>& arrays) {
    for (const auto& array : arrays)
      shape_.resize(std::max(shape_.size(), static_cast<std::size_t>(array.ndim())), 1);
    for (const auto& array : arrays) {
      for (std::size_t back = 1; back <= static_cast<std::size_t>(array.ndim()); ++back) {
        const pybind11::ssize_t size = array.shape(array.ndim() - static_cast<pybind11::ssize_t>(back));
        pybind11::ssize_t& common = shape_[shape_.size() - back];
        if (size != 1 && common != 1 && size != common) throw InputError(mismatch(arrays));
        if (size != 1) common = size;
      }
    }
    for (std::size_t a = 0; a < Count; ++a) {
      steps_[a].assign(shape_.size(), 0);
      Index step = 1;
      for (std::size_t back = 1; back <= static_cast<std::size_t>(arrays[a].ndim()); ++back) {
        const pybind11::ssize_t size =
            arrays[a].shape(arrays[a].ndim() - static_cast<pybind11::ssize_t>(back));
        if (size != 1) steps_[a][shape_.size() - back] = step;
        step *= size;
      }
    }
    for (const pybind11::ssize_t size : shape_) size_ *= size;
  }

  [[nodiscard]] const std::vector<pybind11::ssize_t>& shape() const { return shape_; }
  [[nodiscard]] Index size() const { return size_; }
  [[nodiscard]] std::array<Index, Count> places(Index flat) const {
    std::array<Index, Count> places{};
    for (std::size_t axis = shape_.size(); axis-- > 0;) {
      const Index along = flat % shape_[axis];
      flat /= shape_[axis];
      for (std::size_t a = 0; a < Count; ++a) places[a] += along * steps_[a][axis];
    }
    return places;
  }

 private:
  static std::string mismatch(const std::array<pybind11::array, Count>& arrays) {
    std::string text = "operands could not be broadcast together with shapes";
    for (const auto& array : arrays) text += " " + shape_text(array);
    return text;
  }

  std::vector<pybind11::ssize_t> shape_;
  std::array<std::vector<Index>, Count> steps_;
  Index size_ = 1;
};

/// Where results go: one array per number that the function returns.
template <class Number>
struct Results {
  explicit Results(const std::vector<pybind11::ssize_t>& shape) : array(shape), data(array.mutable_data()) {}
  void set(Index flat, Number value) { data[flat] = value; }
  pybind11::object object() const { return array; }
  pybind11::array_t<Number> array;
  Number* data;
};

template <std::size_t Count>
struct Results<std::array<double, Count>> {
  explicit Results(const std::vector<pybind11::ssize_t>& shape) {
    for (std::size_t i = 0; i < Count; ++i) {
      arrays[i] = pybind11::array_t<double>(shape);
      data[i] = arrays[i].mutable_data();
    }
  }
  void set(Index flat, const std::array<double, Count>& values) {
    for (std::size_t i = 0; i < Count; ++i) data[i][flat] = values[i];
  }
  pybind11::object object() const {
    return std::apply([](const auto&... a) { return pybind11::make_tuple(a...); }, arrays);
  }
  std::array<pybind11::array_t<double>, Count> arrays;
  std::array<double*, Count> data{};
};

inline pybind11::object plain_result(double value) {
  return pybind11::float_(value);
}
inline pybind11::object plain_result(Index value) {
  return pybind11::int_(value);
}
template <std::size_t Count>
pybind11::object plain_result(const std::array<double, Count>& values) {
  return std::apply([](const auto&... value) { return pybind11::make_tuple(value...); }, values);
}

/// function(numbers...) for every element of the broadcast arguments; plain numbers give a plain number. Many
/// elements are shared out to threads and can be interrupted.
template <class... Numbers, class Function, class... Given>
pybind11::object vectorised(const Function& function,
                            const std::array<const char*, sizeof...(Numbers)>& names, const Given&... given) {
  static_assert(sizeof...(Numbers) == sizeof...(Given));
  using Result = std::invoke_result_t<Function, Numbers...>;
  constexpr std::size_t count = sizeof...(Numbers);
  constexpr Index together = 256;  // elements that a thread takes at a time
  if ((Argument<Numbers>::is_plain(given) && ...))
    return plain_result(function(Argument<Numbers>::plain(given)...));

  return [&]<std::size_t... i>(std::index_sequence<i...>) {
    const std::tuple<typename Argument<Numbers>::Array...> arrays{
        Argument<Numbers>::array(given, names[i])...};
    const Broadcast<count> broadcast({std::get<i>(arrays)...});
    const std::tuple data{std::get<i>(arrays).data()...};
    if (broadcast.shape().empty()) return plain_result(function(std::get<i>(data)[0]...));
    Results<Result> results(broadcast.shape());
    const auto fill = [&](Index first, Index last) {
      for (Index flat = first; flat < last; ++flat) {
        const auto places = broadcast.places(flat);
        results.set(flat, function(std::get<i>(data)[places[i]]...));
      }
    };
    if (broadcast.size() <= together) {
      fill(0, broadcast.size());
      return results.object();
    }
    interruptible([&](const Interrupt& interrupt) {
      parallel_blocks((broadcast.size() + together - 1) / together, [&](Index block) {
        interrupt();
        fill(block * together, std::min(broadcast.size(), (block + 1) * together));
      });
      return true;
    });
    return results.object();
  }
  (std::index_sequence_for<Numbers...>());
}

}  // namespace surefoot::python
