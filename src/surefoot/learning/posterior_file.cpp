#include "surefoot/learning/posterior_file.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/safetensors.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>

namespace surefoot::learning {

namespace {

using Json = nlohmann::json;

constexpr std::string_view own_prefix = "surefoot.";
constexpr const char* format_key = "surefoot.format";
constexpr const char* blocks_key = "surefoot.blocks";
constexpr const char* lambda_key = "surefoot.lambda_max";
constexpr const char* b_key = "surefoot.b";
constexpr const char* digest_key = "surefoot.sha256";
constexpr const char* format = "surefoot-posterior 2";
constexpr const char* format_without_digest = "surefoot-posterior 1";

io::Tensor block_tensor(const char* kind, const algorithms::WeightBlock& block, const Eigen::VectorXd& all,
                        Index offset) {
  io::Tensor tensor;
  tensor.name = fmt::format("{}.{}", kind, block.name);
  tensor.shape = {block.rows, block.cols};
  tensor.values.assign(all.data() + offset, all.data() + offset + block.size());
  return tensor;
}

/// All but the digest, in the order in which it is taken: a file whose tensors are ordered otherwise has the
/// same.
io::Safetensors content_of(const Posterior& posterior) {
  posterior.validate();
  io::Safetensors content;
  Json names = Json::array();
  Index offset = 0;
  for (const algorithms::WeightBlock& block : posterior.layout.blocks) {
    names.push_back(block.name);
    const auto& pair = posterior.gaussians;
    content.tensors.push_back(block_tensor("mean", block, pair.mean, offset));
    content.tensors.push_back(block_tensor("log_variance", block, pair.log_variance, offset));
    content.tensors.push_back(block_tensor("prior_mean", block, pair.prior_mean, offset));
    offset += block.size();
  }
  const Eigen::VectorXd& prior = posterior.gaussians.prior_log_variance;
  content.tensors.push_back({"prior_log_variance", {prior.size()}, {prior.begin(), prior.end()}});
  content.metadata = posterior.metadata;
  for (const auto& [key, value] : posterior.metadata) {
    require(!key.starts_with(own_prefix), "posterior: metadata '{}' begins with the reserved '{}'", key,
            own_prefix);
  }
  content.metadata[format_key] = posterior.has_digest ? format : format_without_digest;
  content.metadata[blocks_key] = names.dump();
  content.metadata[lambda_key] = fmt::format("{:.17g}", posterior.grid.lambda_max);
  content.metadata[b_key] = fmt::format("{:.17g}", posterior.grid.b);
  return content;
}

/// Takes tensors and texts out of a file; errors name the file.
class Reader {
 public:
  Reader(std::string name, io::Safetensors content) : name_(std::move(name)), content_(std::move(content)) {}

  Posterior posterior() {
    const std::string found = text(format_key);
    require(found == format || found == format_without_digest, "{}: is '{}', not a {}", name_,
            io::excerpt(found, 40), format);
    require_known_keys();
    Posterior result;
    result.has_digest = found == format;
    result.grid.lambda_max = positive(lambda_key);
    result.grid.b = positive(b_key);
    read_blocks(result);
    auto& pair = result.gaussians;
    Index weights = 0;
    for (const algorithms::WeightBlock& block : result.layout.blocks) weights += block.size();
    pair.mean.resize(weights);
    pair.log_variance.resize(weights);
    pair.prior_mean.resize(weights);
    Index offset = 0;
    for (const algorithms::WeightBlock& block : result.layout.blocks) {
      copy("mean", block, pair.mean, offset);
      copy("log_variance", block, pair.log_variance, offset);
      copy("prior_mean", block, pair.prior_mean, offset);
      pair.group_size.push_back(block.size());
      offset += block.size();
    }
    const auto groups = static_cast<Index>(result.layout.blocks.size());
    const io::Tensor& prior = tensor("prior_log_variance");
    require(prior.shape == std::vector<Index>{groups}, "{}: prior_log_variance is not one number per block",
            name_);
    finite(prior);
    pair.prior_log_variance = Eigen::Map<const Eigen::VectorXd>(prior.values.data(), groups);
    require(content_.tensors.size() == 3 * result.layout.blocks.size() + 1,
            "{}: holds {} tensors, its blocks make {}", name_, content_.tensors.size(),
            3 * result.layout.blocks.size() + 1);
    for (const auto& [key, value] : content_.metadata) {
      if (!key.starts_with(own_prefix)) result.metadata[key] = value;
    }
    result.validate();
    if (!result.has_digest) return result;
    const std::string digest = text(digest_key);
    content_ = {};  // its memory is needed once more
    require(digest == io::sha256_hex(io::to_safetensors(content_of(result))),
            "{}: is damaged: its digest does not match", name_);
    return result;
  }

 private:
  std::string text(const char* key) const {
    const auto found = content_.metadata.find(key);
    require(found != content_.metadata.end(), "{}: __metadata__ has no '{}'", name_, key);
    return found->second;
  }

  double positive(const char* key) const {
    const std::string value = text(key);
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    require(error == std::errc() && end == value.data() + value.size() && std::isfinite(number) && number > 0,
            "{}: '{}' is '{}', not a positive number", name_, key, io::excerpt(value, 40));
    return number;
  }

  const io::Tensor& tensor(const std::string& tensor_name) const {
    const io::Tensor* found = content_.find(tensor_name);
    require(found != nullptr, "{}: there is no tensor '{}'", name_, io::excerpt(tensor_name, 60));
    return *found;
  }

  void finite(const io::Tensor& checked) const {
    for (std::size_t i = 0; i < checked.values.size(); ++i) {
      require(std::isfinite(checked.values[i]), "{}: number {} of tensor '{}' is {}", name_, i,
              io::excerpt(checked.name, 60), checked.values[i]);
    }
  }

  // Later formats add keys of their own; what this program does not know it does not pass over.
  void require_known_keys() const {
    for (const auto& [key, value] : content_.metadata) {
      const bool known =
          key == format_key || key == blocks_key || key == lambda_key || key == b_key || key == digest_key;
      require(known || !key.starts_with(own_prefix),
              "{}: this version of surefoot does not know its part '{}'", name_, io::excerpt(key, 40));
    }
  }

  void read_blocks(Posterior& result) const {
    const Json names = Json::parse(text(blocks_key), nullptr, false);
    require(names.is_array() && !names.empty(), "{}: '{}' is not a list of names", name_, blocks_key);
    for (const Json& item : names) {
      require(item.is_string(), "{}: '{}' is not a list of names", name_, blocks_key);
      algorithms::WeightBlock block;
      block.name = item.get<std::string>();
      for (const algorithms::WeightBlock& other : result.layout.blocks)
        require(other.name != block.name, "{}: '{}' names block '{}' twice", name_, blocks_key,
                io::excerpt(block.name, 60));
      const io::Tensor& mean = tensor("mean." + block.name);
      require(mean.shape.size() == 2 && !mean.values.empty(), "{}: tensor '{}' is not a matrix with entries",
              name_, io::excerpt(mean.name, 60));
      block.rows = mean.shape[0];
      block.cols = mean.shape[1];
      result.layout.blocks.push_back(std::move(block));
    }
  }

  void copy(const char* kind, const algorithms::WeightBlock& block, Eigen::VectorXd& all,
            Index offset) const {
    const io::Tensor& source = tensor(fmt::format("{}.{}", kind, block.name));
    require((source.shape == std::vector<Index>{block.rows, block.cols}),
            "{}: tensor '{}' is not {} x {} as its mean", name_, io::excerpt(source.name, 60), block.rows,
            block.cols);
    finite(source);
    std::copy(source.values.begin(), source.values.end(), all.data() + offset);
  }

  std::string name_;
  io::Safetensors content_;
};

}  // namespace

std::string posterior_bytes(const Posterior& posterior) {
  io::Safetensors content = content_of(posterior);
  if (posterior.has_digest) content.metadata[digest_key] = io::sha256_hex(io::to_safetensors(content));
  return io::to_safetensors(content);
}

std::string posterior_sha256(const Posterior& posterior) {
  return io::sha256_hex(posterior_bytes(posterior));
}

std::string numbers_sha256(const Posterior& posterior) {
  io::Safetensors content = content_of(posterior);
  std::erase_if(content.metadata, [](const auto& entry) { return !entry.first.starts_with(own_prefix); });
  return io::sha256_hex(io::to_safetensors(content));
}

void save_posterior(const Posterior& posterior, const std::filesystem::path& path) {
  io::write_file_atomically(path, posterior_bytes(posterior));
}

Posterior load_posterior(io::ByteSource& source) {
  io::Safetensors content = io::read_safetensors(source);
  return Reader(source.name(), std::move(content)).posterior();
}

Posterior load_posterior(const std::filesystem::path& path) {
  const auto source = io::open_raw_bytes(path.string() == "-" ? "./-" : path.string());
  return load_posterior(*source);
}

void require_layout(const Posterior& posterior, const algorithms::WeightLayout& layout) {
  const auto& mine = posterior.layout.blocks;
  require(mine.size() == layout.blocks.size(), "weights: {} blocks, the model has {}", mine.size(),
          layout.blocks.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const algorithms::WeightBlock& wanted = layout.blocks[i];
    require(mine[i].name == wanted.name && mine[i].rows == wanted.rows && mine[i].cols == wanted.cols,
            "weights: block {} is '{}' ({} x {}), the model has '{}' ({} x {})", i, mine[i].name,
            mine[i].rows, mine[i].cols, wanted.name, wanted.rows, wanted.cols);
  }
}

}  // namespace surefoot::learning
