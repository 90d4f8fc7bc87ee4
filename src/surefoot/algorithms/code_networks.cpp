#include "surefoot/algorithms/code_networks.hpp"

#include "surefoot/algorithms/alista.hpp"
#include "surefoot/algorithms/glista.hpp"
#include "surefoot/algorithms/lista.hpp"
#include "surefoot/algorithms/tilista.hpp"
#include "surefoot/core/error.hpp"

namespace surefoot::algorithms {

std::unique_ptr<LearnedOperator> make_code_network(std::string_view name, SharedCodes codes,
                                                   CodeNetworkOptions options) {
  if (name == "alista") return make_alista(std::move(codes), options);
  if (name == "glista") return make_glista(std::move(codes), options);
  if (name == "tilista") return make_tilista(std::move(codes), options);
  if (name == "lista") return make_lista(std::move(codes), options);
  throw InputError(fmt::format("model: '{}' is not alista, glista, tilista or lista", name));
}

double numbers_kept_by_sample(std::string_view name, Index variables, Precision precision) {
  const bool products = name == "alista" || name == "glista";  // GramNetwork
  const double share = precision == Precision::single ? 0.5 : 1.0;
  return products ? share * static_cast<double>(variables) : 0.0;
}

}  // namespace surefoot::algorithms
