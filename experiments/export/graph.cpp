#include "experiments/export/graph.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <stdexcept>

namespace saccade {
namespace {

constexpr int kIrVersion = 8;  // that belongs to the operator set

void describe(onnx::ValueInfoProto& info, const std::string& name, const Sides& sides,
              const std::string& about, Element element) {
  info.set_name(name);
  info.set_doc_string(about);
  onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<std::int32_t>(onnx_type(element)));
  tensor.mutable_shape();  // a scalar needs an empty one, too
  for (const Side& side : sides) {
    onnx::TensorShapeProto::Dimension& dimension = *tensor.mutable_shape()->add_dim();
    if (const auto* size = std::get_if<std::int64_t>(&side))
      dimension.set_dim_value(*size);
    else
      dimension.set_dim_param(std::get<std::string>(side));
  }
}

struct FillAttribute {
  onnx::AttributeProto& attribute;

  void operator()(std::int64_t value) const {
    attribute.set_type(onnx::AttributeProto::INT);
    attribute.set_i(value);
  }
  void operator()(float value) const {
    attribute.set_type(onnx::AttributeProto::FLOAT);
    attribute.set_f(value);
  }
  void operator()(const std::string& value) const {
    attribute.set_type(onnx::AttributeProto::STRING);
    attribute.set_s(value);
  }
  void operator()(const std::vector<std::int64_t>& values) const {
    attribute.set_type(onnx::AttributeProto::INTS);
    for (const std::int64_t value : values) attribute.add_ints(value);
  }
};

}  // namespace

std::int64_t onnx_type(Element element) {
  switch (element) {
    case Element::int64:
      return onnx::TensorProto::INT64;
    case Element::float64:
      return onnx::TensorProto::DOUBLE;
    case Element::float32:
      break;
  }
  return onnx::TensorProto::FLOAT;
}

struct Graph::Model {
  onnx::ModelProto proto;

  onnx::GraphProto& graph() { return *proto.mutable_graph(); }
  /// Adds a constant without its data.
  onnx::TensorProto& add_constant(const std::string& name, const std::vector<std::int64_t>& shape,
                                  Element element) {
    onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(static_cast<std::int32_t>(onnx_type(element)));
    for (const std::int64_t side : shape) tensor.add_dims(side);
    return tensor;
  }
  template <class T>
  void fill(onnx::TensorProto& tensor, std::span<const T> numbers) {
    tensor.set_raw_data(numbers.data(), numbers.size_bytes());  // ONNX is little-endian
  }
  void add_metadata(const std::string& key, const std::string& value) {
    onnx::StringStringEntryProto& entry = *proto.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
};

Graph::Graph(const ParameterLayout& layout, std::span<const float> weights)
    : layout_(layout), weights_(weights), model_(std::make_unique<Model>()) {
  model_->proto.set_ir_version(kIrVersion);
  model_->proto.add_opset_import()->set_version(kOpset);
  model_->graph().set_name("agent");
}

Graph::~Graph() = default;

// Returns an unused name.
std::string Graph::fresh(const std::string& name) {
  const int before = used_[name]++;
  return before == 0 ? name : fresh(fmt::format("{}.{}", name, before));
}

const Parameter& Graph::find(const std::string& name) const {
  const auto found = std::ranges::find(layout_.parameters(), name, &Parameter::name);
  if (found == layout_.parameters().end())
    throw std::logic_error(fmt::format("the model has no parameter '{}'", name));
  return *found;
}

bool Graph::has_parameter(const std::string& name) const {
  return std::ranges::find(layout_.parameters(), name, &Parameter::name) !=
         layout_.parameters().end();
}

ConstMatrix Graph::numbers_of(const std::string& name) const {
  const Parameter& parameter = find(name);
  return {weights_.data() + parameter.offset, parameter.rows, parameter.cols, parameter.cols};
}

Value Graph::rows(const Value& value, const Parameter& parameter, int first, int count) {
  if (used_.contains(value)) return value;  // added already
  used_[value] = 1;
  const std::size_t width = static_cast<std::size_t>(parameter.cols);
  model_->fill(model_->add_constant(value, {count, parameter.cols}, Element::float32),
               weights_.subspan(parameter.offset + first * width, count * width));
  return value;
}

Value Graph::parameter(const std::string& name) {
  const Parameter& parameter = find(name);
  return rows(name, parameter, 0, parameter.rows);
}

Value Graph::parameter_rows(const std::string& name, int first, int count) {
  return rows(fmt::format("{}[{}:{}]", name, first, first + count), find(name), first, count);
}

Value Graph::floats(const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  const Value name = fresh("constant");
  model_->fill(model_->add_constant(name, shape, Element::float32), std::span(values));
  return name;
}

Value Graph::doubles(const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
  const Value name = fresh("constant");
  model_->fill(model_->add_constant(name, shape, Element::float64), std::span(values));
  return name;
}

Value Graph::integers(const std::vector<std::int64_t>& shape,
                      const std::vector<std::int64_t>& values) {
  const Value name = fresh("constant");
  model_->fill(model_->add_constant(name, shape, Element::int64), std::span(values));
  return name;
}

Value Graph::input(const std::string& name, const Sides& sides, const std::string& about,
                   Element element) {
  used_[name] = 1;
  describe(*model_->graph().add_input(), name, sides, about, element);
  model_->add_metadata("input." + name, about);
  return name;
}

void Graph::output(const std::string& name, const Value& value, const Sides& sides,
                   const std::string& about) {
  used_[name] = 1;
  onnx::NodeProto& node = *model_->graph().add_node();
  node.set_op_type("Identity");
  node.add_input(value);
  node.add_output(name);
  describe(*model_->graph().add_output(), name, sides, about, Element::float32);
  model_->add_metadata("output." + name, about);
}

Value Graph::node(const std::string& operation, const std::vector<Value>& inputs,
                  const std::vector<OnnxAttribute>& attributes) {
  onnx::NodeProto& node = *model_->graph().add_node();
  node.set_op_type(operation);
  for (const Value& input : inputs) node.add_input(input);
  for (const OnnxAttribute& given : attributes) {
    onnx::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(given.name);
    std::visit(FillAttribute{attribute}, given.value);
  }
  const Value output = fresh(operation);
  node.add_output(output);
  return output;
}

void Graph::set_metadata(const std::string& key, const std::string& value) {
  model_->add_metadata(key, value);
}

void Graph::set_origin(const std::string& version, const std::string& about) {
  model_->proto.set_producer_name("saccade");
  model_->proto.set_producer_version(version);
  model_->proto.set_doc_string(about);
}

std::string Graph::bytes() const { return model_->proto.SerializeAsString(); }

}  // namespace saccade
