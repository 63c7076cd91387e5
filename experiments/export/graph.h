#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "nn/parameters.h"

namespace saccade {

/// Name of a tensor of the graph; empty: none.
using Value = std::string;

/// A dimension: a size, or a name for any size (`batch`).
using Side = std::variant<std::int64_t, std::string>;
using Sides = std::vector<Side>;

/// Attribute of an operation.
struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>> value;
};

enum class Element { float32, int64, float64 };

/// Returns the code of an element type, as Cast expects it.
std::int64_t onnx_type(Element element);

/// Builds an ONNX model operation by operation, in the operator set kOpset.
class Graph {
 public:
  static constexpr int kOpset = 17;  // the first one with LayerNormalization

  /// Keeps references to both.
  Graph(const ParameterLayout& layout, std::span<const float> weights);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Adds the trained parameter (rows, cols) of this name. Throws std::logic_error if there is
  /// none.
  Value parameter(const std::string& name);
  /// Adds some of its rows.
  Value parameter_rows(const std::string& name, int first, int count);
  bool has_parameter(const std::string& name) const;
  /// Returns the data of a parameter.
  ConstMatrix numbers_of(const std::string& name) const;

  /// Adds constants, row-major. An empty shape is a scalar.
  Value floats(const std::vector<std::int64_t>& shape, const std::vector<float>& values);
  Value doubles(const std::vector<std::int64_t>& shape, const std::vector<double>& values);
  Value integers(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& values);

  /// Declare the model's inputs and outputs, in call order. `about` describes the value, in its
  /// documentation and in the metadata `input.<name>` or `output.<name>`.
  Value input(const std::string& name, const Sides& sides, const std::string& about,
              Element element = Element::float32);
  void output(const std::string& name, const Value& value, const Sides& sides,
              const std::string& about);

  /// Adds an operation with one output.
  Value node(const std::string& operation, const std::vector<Value>& inputs,
             const std::vector<OnnxAttribute>& attributes = {});

  void set_metadata(const std::string& key, const std::string& value);
  void set_origin(const std::string& version, const std::string& about);

  /// Returns the model as the bytes of an .onnx file.
  std::string bytes() const;

 private:
  struct Model;

  std::string fresh(const std::string& name);
  const Parameter& find(const std::string& name) const;
  Value rows(const Value& value, const Parameter& parameter, int first, int count);

  const ParameterLayout& layout_;
  std::span<const float> weights_;
  std::unique_ptr<Model> model_;
  std::map<std::string, int> used_;  // name -> how often it was used
};

}  // namespace saccade
