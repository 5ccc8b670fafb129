//===- PresetsTest.cpp - Machines that people know by name ----------------===//

#include "compiler/topology/Presets.h"
#include "compiler/topology/Distance.h"

#include <gmock/gmock.h>
#include <sstream>

using namespace coil;
using namespace coil::topology;
using testing::HasSubstr;

namespace {

Topology preset(std::string_view text) {
  DiagnosticEngine diagnostics;
  std::optional<ReadResult> result = presetTopology(text, diagnostics);
  EXPECT_TRUE(result) << text;
  return result ? std::move(result->topology) : Topology();
}

std::string errorOf(std::string_view text) {
  DiagnosticEngine diagnostics;
  EXPECT_FALSE(presetTopology(text, diagnostics)) << text;
  std::ostringstream out;
  render(diagnostics, out);
  return out.str();
}

} // namespace

TEST(Presets, AllAreWhole) {
  for (const PresetFacts &facts : allPresets()) {
    SCOPED_TRACE(facts.name);
    std::string name(facts.name == "cpu-N" ? "cpu-6" : facts.name);
    EXPECT_TRUE(isPreset(name));
    Topology topology = preset(name);
    const Graph &graph = topology.graphOf(0);
    EXPECT_GE(graph.devices().size(), 4u);
    std::vector<PathClass> paths = pathClassesFrom(graph, graph.devices().front());
    for (VertexId vertex = 0; vertex < graph.vertices().size(); ++vertex) {
      if (graph[vertex].kind != VertexKind::NvSwitch) {
        EXPECT_LT(paths[vertex], PathClass::Net) << graph[vertex].name;
      }
    }
    for (const Link &link : graph.links()) {
      EXPECT_GT(link.forward, 0);
      EXPECT_GT(link.latency, 0);
    }
  }
}

TEST(Presets, MeshesHaveAllLinksOfTheirGpus) {
  for (auto [name, links] : {std::pair("dgx-1v", 6u), {"dgx-1p", 4u}, {"p3dn", 6u}}) {
    Graph graph = preset(name).graphOf(0);
    for (VertexId gpu : graph.devices()) {
      uint32_t sum = 0;
      for (VertexId other : graph.devices())
        sum += other == gpu ? 0 : peerLinks(graph, gpu, other);
      EXPECT_EQ(sum, links) << name << ' ' << graph[gpu].name;
    }
  }
}

TEST(Presets, SwitchesGiveEachPairAllLinks) {
  for (auto [name, links] : {std::pair("dgx-2", 6u), {"dgx-a100", 12u}, {"dgx-h100", 18u}}) {
    Graph graph = preset(name).graphOf(0);
    EXPECT_EQ(peerLinks(graph, graph.find("gpu0"), graph.find("gpu7")), links);
  }
  EXPECT_NEAR(
      peerBandwidth(preset("dgx-h100").graphOf(0), preset("dgx-h100").graphOf(0).find("gpu3")),
      370.8, 1e-9);
}

TEST(Presets, CountsMakeClustersByRail) {
  for (std::string_view text :
       {"dgx-h100 x 16", "dgx-h100 x16", "dgx-h100x16", " dgx-h100  x 16 "}) {
    Topology topology = preset(text);
    EXPECT_EQ(topology.name, "dgx-h100 x 16");
    ASSERT_EQ(topology.nodes.size(), 16u);
    EXPECT_EQ(topology.devices().size(), 128u);
    EXPECT_EQ(topology.switches.size(), 9u);
    const Graph &graph = topology.graphOf(0);
    for (VertexId gpu : graph.devices()) {
      NearPort nearest = portsByDistance(graph, gpu).front();
      EXPECT_EQ(nearest.path, PathClass::Pix);
      EXPECT_EQ(graph[nearest.nic].ports[nearest.port].rail, graph[gpu].index);
    }
  }
}

TEST(Presets, AnNvlinkDomainIsManyMachines) {
  Topology topology = preset("gb200-nvl72 x 2");
  EXPECT_EQ(topology.nodes.size(), 36u);
  EXPECT_EQ(topology.devices().size(), 144u);
  EXPECT_EQ(topology.nodes[17].nvlinkDomain, "domain0");
  EXPECT_EQ(topology.nodes[18].nvlinkDomain, "domain1");
  size_t joined = 0;
  for (const OuterLink &link : topology.outerLinks)
    joined += link.kind == LinkKind::NvLink;
  EXPECT_EQ(joined, 36u);
}

TEST(Presets, CoresAreCounted) {
  EXPECT_EQ(preset("cpu-12 x 3").devices().size(), 36u);
  EXPECT_THAT(errorOf("cpu-0"), HasSubstr("expected 1 to 1024 cores in a preset, found 'cpu-0'"));
  EXPECT_THAT(errorOf("cpu-99999999999"), HasSubstr("expected 1 to 1024 cores"));
}

TEST(Presets, SayWhatIsWrong) {
  EXPECT_FALSE(isPreset("dgx-h10"));
  EXPECT_THAT(
      errorOf("dgx-h10"),
      HasSubstr("there is no preset 'dgx-h10'; did you mean 'dgx-h100'?; there are dgx-1p,"));
  EXPECT_THAT(errorOf("dgx-h100 x 0"), HasSubstr("expected 1 to 16384 of dgx-h100, found '0'"));
  EXPECT_THAT(errorOf("dgx-h100 x -3"), HasSubstr("found '-3'"));
  EXPECT_THAT(errorOf("p5 x 99999999999999999999"), HasSubstr("expected 1 to 10280 of p5, found"));
  EXPECT_THAT(errorOf(""), HasSubstr("there is no preset ''"));
  EXPECT_THAT(errorOf("x 3"), HasSubstr("there is no preset 'x 3'"));
}
