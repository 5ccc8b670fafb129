//===- BoundTest.cpp - Flows, cuts and the bound they give ----------------===//

#include "compiler/topology/mapping/Bound.h"
#include "compiler/topology/Presets.h"
#include "compiler/topology/mapping/MaxFlow.h"

#include <gtest/gtest.h>
#include <random>

using namespace coil;
using namespace coil::topology;

namespace {

struct RandomNetwork {
  Graph graph;
  std::vector<VertexId> devices;

  explicit RandomNetwork(std::mt19937 &random) {
    uint32_t vertices = 2 + random() % 6;
    for (uint32_t i = 0; i < vertices; ++i) {
      Vertex vertex;
      bool isDevice = i < 2 || random() % 3 != 0;
      vertex.kind = isDevice ? VertexKind::Gpu : VertexKind::NetworkSwitch;
      vertex.name = "v" + std::to_string(i);
      vertex.index = isDevice ? int32_t(i) : -1;
      VertexId id = graph.add(vertex);
      if (isDevice)
        devices.push_back(id);
    }
    for (VertexId from = 0; from < vertices; ++from)
      for (VertexId to = 0; to < vertices; ++to)
        if (from != to && random() % 2 == 0)
          graph.connect({from, to, LinkKind::NvLink, 1, double(1 + random() % 40) / 4, 0, 0});
  }

  /// The least quotient over all sets of vertices.
  double leastQuotient() const {
    double least = INFINITY;
    for (uint32_t set = 1; set < (1u << graph.vertices().size()); ++set) {
      size_t inside = 0;
      for (VertexId device : devices)
        inside += set >> device & 1;
      if (inside == 0 || inside == devices.size())
        continue;
      least = std::min(least, outOf(set) / double(inside));
    }
    return least;
  }

  double outOf(uint32_t set) const {
    double out = 0;
    for (const Link &link : graph.links()) {
      bool from = set >> link.from & 1, to = set >> link.to & 1;
      out += from && !to ? link.forward : !from && to ? link.backward : 0;
    }
    return out;
  }
};

} // namespace

TEST(Bound, IsTheLeastQuotientOfAllCuts) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    RandomNetwork network(random);
    ThroughputBound bound = throughputBound(network.graph, network.devices);
    double least = network.leastQuotient();
    ASSERT_NEAR(bound.rate(), least, 1e-9) << "trial " << trial;
    // And the cut is a witness.
    uint32_t set = 0, inside = 0;
    for (VertexId vertex : bound.cut)
      set |= 1u << vertex;
    for (VertexId device : network.devices)
      inside += set >> device & 1;
    ASSERT_EQ(inside, bound.devicesInCut);
    ASSERT_NEAR(network.outOf(set), bound.capacity, 1e-9);
  }
}

TEST(Bound, LeavesLinksOut) {
  Topology topology;
  DiagnosticEngine diagnostics;
  topology = presetTopology("dgx-1v", diagnostics)->topology;
  const Graph &graph = topology.graphOf(0);
  auto isNvLink = [](const Link &link) { return link.kind == LinkKind::NvLink; };
  ThroughputBound bound = throughputBound(graph, graph.devices(), isNvLink);
  EXPECT_NEAR(bound.allGather(), 120.0 * 8 / 7, 1e-9);
  auto isNone = [](const Link &) { return false; };
  EXPECT_EQ(throughputBound(graph, graph.devices(), isNone).rate(), 0);
}

TEST(Bound, LooksAtOneNodeOfThoseJoinedAlike) {
  DiagnosticEngine diagnostics;
  for (const char *name : {"dgx-h100 x 4", "dgx-1v x 3", "gb200-nvl72", "p4d x 2"}) {
    Topology topology = presetTopology(name, diagnostics)->topology;
    Graph flat = topology.flatten();
    EXPECT_NEAR(throughputBound(topology).rate(), throughputBound(flat, flat.devices()).rate(),
                1e-9)
        << name;
  }
  // Each node's NICs carry all chunks of the other nodes.
  Topology topology = presetTopology("dgx-h100 x 16", diagnostics)->topology;
  ThroughputBound bound = throughputBound(topology);
  EXPECT_NEAR(bound.rate(), 8 * 48.0 / 120, 1e-9);
  EXPECT_EQ(bound.devices, 128u);
}

TEST(MaxFlow, StopsAtItsLimitAndGivesTheSmallestCut) {
  FlowNetwork network(4);
  network.addArc(0, 1, 5);
  network.addArc(1, 2, 3);
  uint32_t last = network.addArc(2, 3, 3);
  EXPECT_EQ(network.run(0, 3, 2), 2);
  EXPECT_EQ(network.run(0, 3, 9), 3);
  EXPECT_TRUE(network.isOnSourceSide(1));
  EXPECT_FALSE(network.isOnSourceSide(2));
  network.setCapacity(last, 0);
  EXPECT_EQ(network.run(0, 3, 9), 0);
  EXPECT_TRUE(network.isOnSourceSide(2));
  EXPECT_FALSE(network.isOnSourceSide(3));
}
