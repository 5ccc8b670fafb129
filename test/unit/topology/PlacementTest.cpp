//===- PlacementTest.cpp - Which rank runs on which device ----------------===//

#include "compiler/topology/mapping/Placement.h"
#include "compiler/topology/Presets.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>

using namespace coil;
using namespace coil::topology;

namespace {

Topology preset(std::string_view name) {
  DiagnosticEngine diagnostics;
  return presetTopology(name, diagnostics)->topology;
}

std::vector<Transfer> ringOf(uint32_t ranks, double chunks) {
  std::vector<Transfer> transfers;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    transfers.push_back({rank, (rank + 1) % ranks, chunks});
  return transfers;
}

void expectPermutation(std::vector<uint32_t> deviceOf) {
  std::sort(deviceOf.begin(), deviceOf.end());
  for (uint32_t i = 0; i < deviceOf.size(); ++i)
    EXPECT_EQ(deviceOf[i], i);
}

} // namespace

TEST(Placement, FollowsARingOfTheMesh) {
  Topology topology = preset("dgx-1v");
  std::vector<Transfer> transfers = ringOf(8, 14);
  Placer placer(topology, transfers);
  std::string reason;
  std::optional<Placement> placement = placer.place(reason);
  ASSERT_TRUE(placement) << reason;
  expectPermutation(placement->deviceOf);
  // Every hop is an NVLink, of which one of 20 GB/s is the busiest at worst.
  EXPECT_LE(placement->time, 14.0 / 20 + 1e-9);
  for (const Transfer &transfer : transfers) {
    VertexId from = placer.vertexOf(placement->deviceOf[transfer.from]),
             to = placer.vertexOf(placement->deviceOf[transfer.to]);
    EXPECT_TRUE(placer.graph().linkBetween(from, to, LinkKind::NvLink));
  }
  std::vector<uint32_t> order(8);
  std::iota(order.begin(), order.end(), 0u);
  std::optional<Placement> numbered = placer.evaluate(order, "numbered", reason);
  ASSERT_TRUE(numbered);
  EXPECT_GT(numbered->time, placement->time);
}

TEST(Placement, ExchangesRanksOfOtherPatterns) {
  // Pairs that lie on different sockets if ranks stay as they are.
  std::vector<Transfer> transfers;
  for (uint32_t rank = 0; rank < 8; ++rank)
    transfers.push_back({rank, rank ^ 4, 1});
  Topology topology = preset("pcie-8");
  Placer placer(topology, transfers);
  std::string reason;
  std::optional<Placement> placement = placer.place(reason);
  ASSERT_TRUE(placement) << reason;
  expectPermutation(placement->deviceOf);
  LinkLoads loads = placer.loadsOf(*placement);
  const Graph &graph = placer.graph();
  for (LinkId id = 0; id < graph.links().size(); ++id) {
    if (graph.link(id).kind == LinkKind::Socket) {
      EXPECT_EQ(loads.of({id, graph.link(id).from}), 0);
    }
  }
}

TEST(Placement, KeepsRailsApart) {
  // Each GPU with its counterparts.
  Topology topology = preset("dgx-h100 x 4");
  std::vector<Transfer> transfers;
  for (uint32_t rank = 0; rank < 32; ++rank)
    transfers.push_back({rank, (rank + 8) % 32, 3});
  Placer placer(topology, transfers);
  std::string reason;
  std::optional<Placement> placement = placer.place(reason);
  ASSERT_TRUE(placement) << reason;
  EXPECT_EQ(placement->chunks, 3);
  EXPECT_NEAR(placement->time, 3.0 / 48, 1e-9);
}

TEST(Placement, SaysWhichWayIsMissing) {
  Topology topology = preset("cpu-2 x 2");
  topology.outerLinks.clear();
  std::vector<Transfer> transfers = ringOf(4, 1);
  std::string reason;
  EXPECT_FALSE(Placer(topology, transfers).place(reason));
  EXPECT_EQ(reason, "rank 1 sends to rank 2, but no link leads from node0/core1 to node1/core0");
}

TEST(Placement, NothingToSendIsNoTime) {
  Topology topology = preset("cpu-3");
  std::string reason;
  std::optional<Placement> placement = Placer(topology, {}).place(reason);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->time, 0);
}
