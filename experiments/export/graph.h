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

/// A tensor of a graph, by its name; empty: none.
using Value = std::string;

/// A side of a tensor: so many, or any number under a name (`batch`).
using Side = std::variant<std::int64_t, std::string>;
using Sides = std::vector<Side>;

/// What is said to an operation beside its inputs.
struct OnnxAttribute {
  std::string name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>> value;
};

enum class Element { float32, int64, float64 };

/// The number of an element type, as Cast takes it.
std::int64_t onnx_type(Element element);

/// An ONNX model that is being built, operation by operation, in the operator set kOpset.
class Graph {
 public:
  static constexpr int kOpset = 17;  // the first with LayerNormalization

  /// Keeps references to both.
  Graph(const ParameterLayout& layout, std::span<const float> weights);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// The trained parameter (rows, cols) of a name. std::logic_error where there is none.
  Value parameter(const std::string& name);
  /// Some of its rows.
  Value parameter_rows(const std::string& name, int first, int count);
  bool has_parameter(const std::string& name) const;
  /// What such a parameter holds.
  ConstMatrix numbers_of(const std::string& name) const;

  /// Numbers that do not change; row-major. An empty shape is a scalar.
  Value floats(const std::vector<std::int64_t>& shape, const std::vector<float>& values);
  Value doubles(const std::vector<std::int64_t>& shape, const std::vector<double>& values);
  Value integers(const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& values);

  /// What is given to the model and what it gives, in the order of the calls. `about` says what it
  /// means, in its documentation and in the metadata `input.<name>` or `output.<name>`.
  Value input(const std::string& name, const Sides& sides, const std::string& about,
              Element element = Element::float32);
  void output(const std::string& name, const Value& value, const Sides& sides,
              const std::string& about);

  /// One operation with one output.
  Value node(const std::string& operation, const std::vector<Value>& inputs,
             const std::vector<OnnxAttribute>& attributes = {});

  void set_metadata(const std::string& key, const std::string& value);
  void set_origin(const std::string& version, const std::string& about);

  /// The whole as the bytes of an .onnx file.
  std::string bytes() const;

 private:
  struct Model;

  std::string fresh(const std::string& name);
  const Parameter& find(const std::string& name) const;
  Value rows(const Value& value, const Parameter& parameter, int first, int count);

  const ParameterLayout& layout_;
  std::span<const float> weights_;
  std::unique_ptr<Model> model_;
  std::map<std::string, int> used_;  // names, and how often
};

}  // namespace saccade
