//===- RingPlanTest.cpp - Rings through machines and clusters -------------===//

#include "compiler/topology/mapping/RingPlan.h"
#include "compiler/topology/Presets.h"
#include "compiler/topology/mapping/Bound.h"
#include "compiler/topology/mapping/DeviceOrder.h"
#include "compiler/topology/mapping/Routes.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace coil;
using namespace coil::topology;

namespace {

Topology preset(std::string_view name) {
  DiagnosticEngine diagnostics;
  return presetTopology(name, diagnostics)->topology;
}

RingPlan ringsOf(const Topology &topology) {
  std::string reason;
  std::optional<RingPlan> plan = planRings(topology, reason);
  EXPECT_TRUE(plan) << reason;
  return plan.value_or(RingPlan());
}

} // namespace

TEST(RingPlan, SwitchesGiveAllOfTheirLinks) {
  for (auto [name, links] :
       {std::pair("dgx-2", 6u), {"dgx-a100", 12u}, {"dgx-h100", 18u}, {"hgx-b200", 18u}}) {
    Topology topology = preset(name);
    RingPlan plan = ringsOf(topology);
    EXPECT_EQ(plan.kind, RingKind::Switched);
    EXPECT_EQ(plan.rings.size(), links);
    const Graph &graph = topology.graphOf(0);
    for (VertexId device : graph.devices())
      EXPECT_GE(plan.bandwidth(), 0.99 * peerBandwidth(graph, device)) << name;
    // No schedule by NVLink does better.
    auto isNvLink = [](const Link &link) { return link.kind == LinkKind::NvLink; };
    EXPECT_NEAR(plan.allGather(), throughputBound(graph, graph.devices(), isNvLink).allGather(),
                1e-6);
  }
}

TEST(RingPlan, MeshesGiveEveryLinkToOneRing) {
  RingPlan plan = ringsOf(preset("dgx-1v"));
  EXPECT_EQ(plan.kind, RingKind::Direct);
  EXPECT_EQ(plan.rings.size(), 6u);
  EXPECT_NEAR(plan.bandwidth(), 120, 1e-9);
  EXPECT_EQ(ringsOf(preset("dgx-1p")).rings.size(), 4u);

  Topology topology = preset("dgx-1v");
  const Graph &graph = topology.graphOf(0);
  std::vector<VertexId> gpus = graph.devices();
  auto some = [&](std::initializer_list<uint32_t> numbers) {
    std::vector<VertexId> chosen;
    for (uint32_t number : numbers)
      chosen.push_back(gpus[number]);
    return planRings(graph, chosen);
  };
  EXPECT_EQ(some({0, 1, 2, 3}).rings.size(), 4u);
  EXPECT_EQ(some({0, 1, 2, 3, 4, 5}).rings.size(), 2u);
  // No NVLinks lead around these; the others' PCI links do, past each CPU link once a direction.
  RingPlan mixed = some({0, 1, 6, 7});
  EXPECT_EQ(mixed.kind, RingKind::Mixed);
  EXPECT_EQ(mixed.rings.size(), 2u);
  EXPECT_GT(mixed.bandwidth(), 5);
  EXPECT_EQ(some({3}).rings.size(), 0u);
}

TEST(RingPlan, PassesBetweenSocketsTwice) {
  for (const char *name : {"pcie-8", "l40s-8"}) {
    Topology topology = preset(name);
    const Graph &graph = topology.graphOf(0);
    std::vector<VertexId> gpus = graph.devices();
    std::mt19937 random(5);
    for (int trial = 0; trial < 20; ++trial) {
      std::shuffle(gpus.begin(), gpus.end(), random);
      RingPlan plan = planRings(graph, gpus);
      ASSERT_EQ(plan.rings.size(), 2u);
      for (const Ring &ring : plan.rings) {
        int crossings = 0;
        for (size_t i = 0; i < ring.order.size(); ++i) {
          VertexId from = gpus[ring.order[i]], to = gpus[ring.order[(i + 1) % ring.order.size()]];
          for (Step step : Routes(graph, from).to(to))
            crossings += graph.link(step.link).kind == LinkKind::Socket;
        }
        ASSERT_EQ(crossings, 2);
        ASSERT_GT(ring.bandwidth, 0);
      }
    }
  }
}

TEST(RingPlan, RailsShareWhatPassesBetweenNodes) {
  Topology topology = preset("dgx-h100 x 16");
  RingPlan plan = ringsOf(topology);
  ASSERT_EQ(plan.rings.size(), 8u);
  EXPECT_EQ(plan.devices, 128u);
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_EQ(plan.rings[i].rail, int32_t(i));
    EXPECT_EQ(plan.rings[i].order.front(), i) << "the rail's own GPU is the first";
    EXPECT_NEAR(plan.rings[i].bandwidth, plan.bandwidth() / 8, 1e-9);
  }
  EXPECT_GT(plan.allGather(), 0.9 * throughputBound(topology).allGather());
  EXPECT_LE(plan.allGather(), throughputBound(topology).allGather());
  EXPECT_EQ(ringsOf(preset("dgx-h100 x 128")).devices, 1024u);
  EXPECT_EQ(ringsOf(preset("cpu-4 x 3")).rings.size(), 1u);
}

TEST(RingPlan, SaysWhyThereIsNone) {
  std::string reason;
  Topology topology = preset("pcie-8 x 2");
  topology.outerLinks.clear();
  EXPECT_FALSE(planRings(topology, reason));
  EXPECT_EQ(reason, "no rail joins the nodes");
  Topology apart = preset("pcie-4");
  Graph graph;
  for (int i = 0; i < 2; ++i) {
    Vertex gpu;
    gpu.name = "gpu" + std::to_string(i);
    gpu.index = i;
    graph.add(gpu);
  }
  apart.types[0].graph = graph;
  EXPECT_FALSE(planRings(apart, reason));
  EXPECT_EQ(reason, "some devices do not reach others");
}

TEST(DeviceOrder, IsTheShortestRound) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 200; ++trial) {
    uint32_t count = 2 + random() % 6;
    std::vector<double> cost(size_t(count) * count);
    for (double &each : cost)
      each = double(random() % 100);
    auto costOf = [&](const RingOrder &order) {
      double sum = 0;
      for (uint32_t i = 0; i < count; ++i)
        sum += cost[size_t(order[i]) * count + order[(i + 1) % count]];
      return sum;
    };
    RingOrder order(count);
    std::iota(order.begin(), order.end(), 0u);
    double least = costOf(order);
    while (std::next_permutation(order.begin() + 1, order.end()))
      least = std::min(least, costOf(order));
    if (count != 3) { // where the way back may be shorter
      ASSERT_EQ(costOf(shortRound(count, cost)), least);
    }
  }
  // Sixteen places on a line: there and back.
  std::vector<double> line(16 * 16);
  for (int a = 0; a < 16; ++a)
    for (int b = 0; b < 16; ++b)
      line[size_t(a * 16 + b)] = std::abs(a * 7 % 16 - b * 7 % 16);
  RingOrder order = shortRound(16, line);
  double sum = 0;
  for (size_t i = 0; i < 16; ++i)
    sum += line[order[i] * 16 + order[(i + 1) % 16]];
  EXPECT_EQ(sum, 30);
}
