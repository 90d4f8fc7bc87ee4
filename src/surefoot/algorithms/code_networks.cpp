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

}  // namespace surefoot::algorithms
