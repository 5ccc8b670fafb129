//===- ConcernsTest.cpp - What in a machine slows collectives -------------===//

#include "compiler/topology/Concerns.h"
#include "compiler/topology/Presets.h"

#include <gtest/gtest.h>

using namespace coil;
using namespace coil::topology;

namespace {

Graph preset(std::string_view name) {
  DiagnosticEngine diagnostics;
  return presetTopology(name, diagnostics)->topology.types[0].graph;
}

std::string concernOf(const Graph &graph) {
  std::string text;
  for (const Concern &concern : concernsOf(graph))
    text += concern.what + ": " + concern.text + "\n";
  return text;
}

} // namespace

TEST(Concerns, PresetsHaveNone) {
  for (const PresetFacts &facts : allPresets()) {
    if (facts.name == "p3dn" || facts.name == "ndv2" || facts.name == "pcie-4") {
      continue; // one card, near one of the sockets
    }
    EXPECT_EQ(concernOf(preset(facts.name == "cpu-N" ? "cpu-4" : facts.name)), "") << facts.name;
  }
  EXPECT_NE(concernOf(preset("p3dn")).find("far-nic: gpu7"), std::string::npos);
}

TEST(Concerns, ALinkThatIsDown) {
  Graph graph = preset("dgx-1v");
  graph.disconnect(graph.find("gpu0"), graph.find("gpu1"), LinkKind::NvLink);
  EXPECT_EQ(concernOf(graph), "nvlinks: gpu0 has 5 of the 6 NVLinks that others have\n"
                              "nvlinks: gpu1 has 5 of the 6 NVLinks that others have\n");
}

TEST(Concerns, NarrowLinks) {
  Graph graph = preset("pcie-8");
  for (VertexId gpu : graph.devices())
    graph[gpu].pci.width = 16;
  graph[graph.find("gpu3")].pci.width = 8;
  VertexId nic = graph.find("nic1");
  graph[nic].pci.width = 4;
  graph[nic].pci.maxWidth = 16;
  EXPECT_EQ(concernOf(graph), "narrow-pci: gpu3 has 8 PCI lanes where others of its kind have 16\n"
                              "narrow-pci: nic1 has 4 of 16 PCI lanes\n");
}

TEST(Concerns, OneBusIdTwice) {
  Graph graph = preset("pcie-4");
  graph[graph.find("gpu1")].pci.busId = graph[graph.find("gpu2")].pci.busId = "0000:0f:00.0";
  EXPECT_EQ(concernOf(graph), "bus-id: gpu1 and gpu2 have one bus id, 0000:0f:00.0\n");
}

TEST(Concerns, NoPeerAccess) {
  Graph graph = preset("pcie-4");
  graph.denyPeerAccess(graph.find("gpu0"), graph.find("gpu1"), "CNS");
  EXPECT_EQ(concernOf(graph), "peer-access: gpu0 and gpu1 cannot read each other's memory (CNS)\n");
}

TEST(Concerns, UnknownNumaNodes) {
  Graph graph = preset("pcie-8");
  graph[graph.find("gpu5")].numaNode = -1;
  EXPECT_EQ(concernOf(graph), "numa: the NUMA node of gpu5 is unknown, and there are 2\n");
}

TEST(Concerns, ProcessorsOfAnotherCpu) {
  Graph graph = preset("pcie-8");
  graph[graph.find("cpu0")].affinity = "0-15";
  graph[graph.find("cpu1")].affinity = "16-31";
  graph[graph.find("gpu0")].affinity = "16-23";
  EXPECT_EQ(concernOf(graph),
            "affinity: gpu0 names processors 16-23, of which cpu0 on its NUMA node has none\n");
}
