//===- GraphTest.cpp - The graph, distances, rails and clusters -----------===//

#include "compiler/topology/Bandwidth.h"
#include "compiler/topology/Distance.h"
#include "compiler/topology/Topology.h"

#include <gmock/gmock.h>

using namespace coil::topology;
using testing::ElementsAre;

namespace {

VertexId add(Graph &graph, VertexKind kind, const char *name, int32_t index = -1) {
  Vertex vertex;
  vertex.kind = kind;
  vertex.name = name;
  vertex.index = index;
  if (kind == VertexKind::Nic) {
    NicPort &port = vertex.ports.emplace_back();
    port.name = name;
    port.bandwidth = 25;
  }
  return graph.add(vertex);
}

/// Two CPUs; on the first a switch with a GPU and a NIC, and a GPU behind a second switch; on the
/// other a GPU at the CPU itself and one at a host bridge.
struct TwoSockets {
  Graph graph;
  VertexId cpu0 = add(graph, VertexKind::Cpu, "cpu0"), cpu1 = add(graph, VertexKind::Cpu, "cpu1"),
           upper = add(graph, VertexKind::PciSwitch, "upper"),
           lower = add(graph, VertexKind::PciSwitch, "lower"),
           bridge = add(graph, VertexKind::HostBridge, "bridge"),
           gpu0 = add(graph, VertexKind::Gpu, "gpu0", 0), nic = add(graph, VertexKind::Nic, "nic0"),
           gpu3 = add(graph, VertexKind::Gpu, "gpu3", 3),
           gpu1 = add(graph, VertexKind::Gpu, "gpu1", 1),
           gpu2 = add(graph, VertexKind::Gpu, "gpu2", 2);

  TwoSockets() {
    graph.connect(cpu0, cpu1, LinkKind::Socket, 10);
    graph.connect(cpu0, upper, LinkKind::Pci, 24);
    graph.connect(upper, gpu0, LinkKind::Pci, 24);
    graph.connect(upper, nic, LinkKind::Pci, 24);
    graph.connect(upper, lower, LinkKind::Pci, 24);
    graph.connect(lower, gpu1, LinkKind::Pci, 24);
    graph.connect(cpu1, gpu2, LinkKind::Pci, 24);
    graph.connect(cpu1, bridge, LinkKind::Pci, 24);
    graph.connect(bridge, gpu3, LinkKind::Pci, 24);
  }
};

} // namespace

TEST(Graph, LinksOfAKindAddUp) {
  TwoSockets machine;
  Graph &graph = machine.graph;
  graph.connect(machine.gpu0, machine.gpu1, LinkKind::NvLink, 20);
  graph.connect({machine.gpu1, machine.gpu0, LinkKind::NvLink, 2, 40, 10, 0});
  const Link *link = graph.linkBetween(machine.gpu1, machine.gpu0, LinkKind::NvLink);
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->count, 3u);
  EXPECT_EQ(link->outOf(machine.gpu0), 30);
  EXPECT_EQ(link->outOf(machine.gpu1), 60);
  EXPECT_EQ(peerLinks(graph, machine.gpu0, machine.gpu1), 3u);
  EXPECT_EQ(peerBandwidth(graph, machine.gpu0), 30);

  size_t links = graph.links().size();
  graph.disconnect(machine.gpu0, machine.gpu1, LinkKind::NvLink);
  graph.disconnect(machine.cpu0, machine.cpu1, LinkKind::Socket);
  EXPECT_EQ(graph.links().size(), links - 2);
  EXPECT_EQ(graph.linkBetween(machine.gpu0, machine.gpu1), nullptr);
  for (LinkId id = 0; id < graph.links().size(); ++id)
    for (VertexId end : {graph.link(id).from, graph.link(id).to}) {
      EXPECT_THAT(graph.linksAt(end), testing::Contains(id));
      EXPECT_EQ(graph.linkBetween(graph.link(id).from, graph.link(id).to), &graph.link(id));
    }
}

TEST(Graph, DevicesAreGpusInTheOrderOfTheirNumbers) {
  TwoSockets machine;
  EXPECT_THAT(machine.graph.devices(),
              ElementsAre(machine.gpu0, machine.gpu1, machine.gpu2, machine.gpu3));
  Graph cpus;
  add(cpus, VertexKind::Cpu, "cpu0");
  EXPECT_THAT(cpus.devices(), ElementsAre(0));
  add(cpus, VertexKind::Core, "core0");
  EXPECT_THAT(cpus.devices(), ElementsAre(1));
}

TEST(Distance, CountsWhatIsPassed) {
  TwoSockets machine;
  const Graph &graph = machine.graph;
  EXPECT_EQ(pathClass(graph, machine.gpu0, machine.gpu0), PathClass::Self);
  EXPECT_EQ(pathClass(graph, machine.gpu0, machine.nic), PathClass::Pix);
  EXPECT_EQ(pathClass(graph, machine.gpu0, machine.gpu1), PathClass::Pxb);
  EXPECT_EQ(pathClass(graph, machine.gpu0, machine.cpu0), PathClass::Phb);
  EXPECT_EQ(pathClass(graph, machine.gpu0, machine.cpu1), PathClass::Sys);
  EXPECT_EQ(pathClass(graph, machine.gpu2, machine.gpu3), PathClass::Phb);
  EXPECT_EQ(pathClass(graph, machine.gpu3, machine.gpu0), PathClass::Sys);
  EXPECT_EQ(pathClass(graph, machine.cpu1, machine.gpu3), PathClass::Phb);
}

TEST(Distance, TwoHostBridgesOfOneDomainAreNode) {
  TwoSockets machine;
  VertexId second = add(machine.graph, VertexKind::HostBridge, "second");
  machine.graph.connect(machine.cpu1, second, LinkKind::Pci, 24);
  VertexId gpu4 = add(machine.graph, VertexKind::Gpu, "gpu4", 4);
  machine.graph.connect(second, gpu4, LinkKind::Pci, 24);
  EXPECT_EQ(pathClass(machine.graph, machine.gpu3, gpu4), PathClass::Node);
}

TEST(Distance, WhatIsStatedComesFirst) {
  TwoSockets machine;
  machine.graph.statePath(machine.gpu1, machine.gpu0, PathClass::Sys);
  EXPECT_EQ(pathClass(machine.graph, machine.gpu0, machine.gpu1), PathClass::Sys);
  EXPECT_EQ(pathClassesFrom(machine.graph, machine.gpu1)[machine.gpu0], PathClass::Sys);
  EXPECT_EQ(pathClassesFrom(machine.graph, machine.gpu1)[machine.nic], PathClass::Pxb);
}

TEST(Distance, UnconnectedIsNoWay) {
  Graph graph;
  add(graph, VertexKind::Gpu, "gpu0", 0);
  add(graph, VertexKind::Gpu, "gpu1", 1);
  EXPECT_EQ(pathClass(graph, 0, 1), PathClass::None);
}

TEST(Distance, LinksBehindASwitchAreTheFewerOfBothEnds) {
  Graph graph;
  VertexId gpu0 = add(graph, VertexKind::Gpu, "gpu0", 0),
           gpu1 = add(graph, VertexKind::Gpu, "gpu1", 1),
           nvswitch = add(graph, VertexKind::NvSwitch, "nvswitch");
  graph.connect(gpu0, nvswitch, LinkKind::NvLink, 20, 18);
  EXPECT_EQ(peerLinks(graph, gpu0, gpu1), 0u);
  graph.connect(gpu1, nvswitch, LinkKind::NvLink, 20, 16);
  EXPECT_EQ(peerLinks(graph, gpu0, gpu1), 16u);
}

TEST(Rails, PortsFollowTheirGpus) {
  // NICs in the reverse order of the GPUs that they lie near.
  Graph graph;
  VertexId cpu = add(graph, VertexKind::Cpu, "cpu0");
  for (int i = 0; i < 4; ++i) {
    VertexId middle = add(graph, VertexKind::PciSwitch, "switch"),
             nic = add(graph, VertexKind::Nic, "nic"),
             gpu = add(graph, VertexKind::Gpu, "gpu", 3 - i);
    for (VertexId end : {cpu, nic, gpu})
      graph.connect(middle, end, LinkKind::Pci, 24);
  }
  VertexId storage = add(graph, VertexKind::Nic, "storage");
  graph.connect(cpu, storage, LinkKind::Pci, 24);
  assignRails(graph);
  EXPECT_EQ(countRails(graph), 4u);
  EXPECT_EQ(graph[storage].ports[0].rail, -1);
  for (VertexId gpu : graph.devices()) {
    NearPort nearest = portsByDistance(graph, gpu).front();
    EXPECT_EQ(nearest.path, PathClass::Pix);
    EXPECT_EQ(graph[nearest.nic].ports[nearest.port].rail, graph[gpu].index);
  }
}

TEST(Cluster, KeepsOneMachine) {
  TwoSockets machine;
  Topology topology = cluster({"box", machine.graph}, 128);
  EXPECT_EQ(topology.types.size(), 1u);
  EXPECT_EQ(topology.nodes.size(), 128u);
  EXPECT_EQ(topology.name, "box x 128");
  EXPECT_EQ(topology.outerLinks.size(), 128u);
  std::vector<Device> devices = topology.devices();
  ASSERT_EQ(devices.size(), 512u);
  EXPECT_EQ(devices[6], (Device{1, machine.gpu2}));

  Graph flat = topology.flatten();
  EXPECT_EQ(flat.vertices().size(), 128 * machine.graph.vertices().size() + 1);
  VertexId here = flat.find("node3/gpu0"), there = flat.find("node77/gpu1");
  EXPECT_EQ(pathClass(flat, here, there), PathClass::Net);
  EXPECT_EQ(pathClass(flat, here, flat.find("node3/gpu1")), PathClass::Pxb);
}

TEST(Bandwidth, PciTexts) {
  EXPECT_EQ(pciSpeed("16.0 GT/s PCIe", 16), 16);
  EXPECT_EQ(pciSpeed("8 GT/s", 8), 8);
  EXPECT_EQ(pciSpeed("32 GT/s PCIe/s", 16), 32);
  EXPECT_EQ(pciSpeed("15.753846", 16), 8);
  EXPECT_EQ(pciSpeed("3.938462", 4), 8);
  EXPECT_EQ(pciSpeed("1.000000", 16), std::nullopt);
  EXPECT_EQ(pciSpeed("Unknown", 16), std::nullopt);
  EXPECT_EQ(pciSpeed("", 0), std::nullopt);
  EXPECT_EQ(pciSpeed("-8 GT/s", 16), std::nullopt);
  EXPECT_EQ(pciSpeed("inf", 16), std::nullopt);
}

TEST(Bandwidth, PciLinksAreNeverWithoutSpeed) {
  EXPECT_EQ(pciBandwidth(8, 16), 12);
  EXPECT_EQ(pciBandwidth(16, 16), 24);
  EXPECT_EQ(pciBandwidth(32, 4), 12);
  EXPECT_EQ(pciBandwidth(64, 8), 48);
  EXPECT_EQ(pciBandwidth(0, 0), 12);
  EXPECT_EQ(pciBandwidth(2.5, 16), 3);
}

TEST(Bandwidth, BitsAndBytes) {
  EXPECT_EQ(portRate("200 Gb/sec (4X HDR)"), 25);
  EXPECT_EQ(portRate("40 Gb/sec (4X QDR)"), 5);
  EXPECT_EQ(portRate("25.781 GB/s"), std::nullopt);
  EXPECT_EQ(nvlinkBandwidthOfRate(19.531), 18);
  EXPECT_EQ(nvlinkBandwidthOfRate(25.781), 20);
  EXPECT_EQ(nvlinkBandwidthOfRate(26.562), 20.6);
  EXPECT_EQ(nvlinkBandwidthOfRate(53.125), 40.1);
}

TEST(Bandwidth, Generations) {
  EXPECT_EQ(nvlinkBandwidth(61), 18);
  EXPECT_EQ(nvlinkBandwidth(86), 12);
  EXPECT_EQ(nvlinkBandwidth(103), 40.1);
  EXPECT_EQ(nvlinkBandwidth(0), 20);
  EXPECT_EQ(xgmiBandwidth("906"), 24);
  EXPECT_EQ(xgmiBandwidth("910"), 36);
  EXPECT_EQ(xgmiBandwidth("gfx90a"), 36);
  EXPECT_EQ(xgmiBandwidth("gfx942"), 48);
}
