//===- ClusterYamlTest.cpp - Clusters in YAML, right and wrong ------------===//

#include "compiler/topology/ClusterYaml.h"
#include "compiler/topology/Presets.h"

#include <gmock/gmock.h>
#include <sstream>

using namespace coil;
using namespace coil::topology;
using testing::HasSubstr;

namespace {

struct Read {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  std::optional<ReadResult> result;

  explicit Read(std::string text) {
    auto open = [this](const std::string &name) { return presetTopology(name, diagnostics); };
    result = readClusterYaml(sources.add("cluster.yaml", std::move(text)), diagnostics, open);
  }
  std::string errors() {
    std::ostringstream out;
    render(diagnostics, out);
    return out.str();
  }
};

void expectError(const std::string &text, const char *message) {
  Read read(text);
  EXPECT_FALSE(read.result) << text.substr(0, 200);
  EXPECT_THAT(read.errors(), HasSubstr(message)) << text.substr(0, 200);
}

} // namespace

TEST(ClusterYaml, BandwidthsHaveUnits) {
  for (auto [text, bandwidth] : {std::pair("400Gb/s", 50.0),
                                 {"50GB/s", 50.0},
                                 {"50 GB/s", 50.0},
                                 {"1.6Tb/s", 200.0},
                                 {"800 Mb/s", 0.1},
                                 {"1000000KB/s", 1.0}}) {
    ASSERT_TRUE(bandwidthWithUnit(text)) << text;
    EXPECT_DOUBLE_EQ(*bandwidthWithUnit(text), bandwidth) << text;
  }
  for (const char *text : {"400", "400 G", "400Gb", "Gb/s", "400gb/s", "400GiB/s", "-4Gb/s",
                           "0Gb/s", "1e3Gb/s", "4..2Gb/s", "999999999999Tb/s", "", "400Gb/s each"})
    EXPECT_FALSE(bandwidthWithUnit(text)) << text;
}

TEST(ClusterYaml, TypesCountsAndTheNetwork) {
  Read read("name: training\n"
            "nodes:\n"
            "  - type: dgx-h100\n"
            "    count: 4\n"
            "  - {type: dgx-a100, count: 2}\n"
            "network: {port: 200Gb/s, oversubscription: 4}\n");
  ASSERT_TRUE(read.result) << read.errors();
  const Topology &topology = read.result->topology;
  EXPECT_EQ(topology.name, "training");
  EXPECT_EQ(topology.nodes.size(), 6u);
  EXPECT_EQ(topology.types.size(), 2u);
  EXPECT_EQ(topology.devices().size(), 48u);
  EXPECT_EQ(topology.switches.size(), 9u);
  for (const OuterLink &link : topology.outerLinks)
    EXPECT_DOUBLE_EQ(link.forward, link.from.isSwitch() ? 6 * 25.0 / 4 : 25.0);
}

TEST(ClusterYaml, MachinesOfOneNvlinkDomain) {
  Read read("nodes: [{type: dgx-h100, count: 2, nvlink-domain: rack}]");
  ASSERT_TRUE(read.result) << read.errors();
  EXPECT_EQ(read.result->topology.nodes[1].nvlinkDomain, "rack");
  EXPECT_EQ(read.result->topology.name, "cluster.yaml");
}

TEST(ClusterYaml, SaysWhatIsWrongAndWhere) {
  expectError("", "error: a cluster: expected a map, found nothing");
  expectError("[1, 2]", "a cluster: expected a map, found a list");
  expectError("nodes: [", "error: expected YAML: ");
  expectError("name: x\n\tnodes: y", "error: ");
  expectError("name: x\n", "nodes: expected a list of types and counts, found nothing");
  expectError("nodes: dgx-h100", "cluster.yaml:1:8: error: nodes: expected a list of types and "
                                 "counts, found 'dgx-h100'");
  expectError("name: x\nnods: []\n",
              "cluster.yaml:2:1: error: a cluster: expected one of name, nodes, network, found "
              "'nods'; did you mean 'nodes'?");
  expectError("nodes: [{count: 3}]", "type: expected the name of a machine, found nothing");
  expectError("nodes: [{type: dgx-h1000}]",
              "there is no preset 'dgx-h1000'; did you mean 'dgx-h100'?");
  expectError("nodes: [{type: dgx-h100 x 2}]",
              "expected a single machine, found 'dgx-h100 x 2', which is 2 nodes");
  expectError("nodes:\n  - type: p5\n    count: 0\n",
              "cluster.yaml:3:12: error: count: expected 1 to 16384, found '0'");
  expectError("nodes: [{type: dgx-h100, count: 16384}, {type: p5, count: 16384}]", "error: ");
  expectError("nodes: [{type: p5}]\nnetwork: {port: 400}\n",
              "cluster.yaml:2:17: error: port: expected a bandwidth with its unit, such as "
              "400Gb/s or 50GB/s (a byte has 8 bits), found '400'");
  expectError("nodes: [{type: p5}]\nnetwork: {oversubscription: 0.5}\n",
              "oversubscription: expected a number from 1 to 1000, found '0.5'");
  expectError("a: &a [*a, *a]", "error: ");
  expectError(std::string(100000, '['), "nested more than 64 levels deep");
  expectError(std::string(100000, '-'), "nested more than 64 levels deep");
  std::string dashes;
  for (int i = 0; i < 50000; ++i)
    dashes += "- ";
  expectError(dashes, "nested more than 64 levels deep");
}
