//===- RingPackingTest.cpp - Rings that share no link ---------------------===//

#include "compiler/topology/mapping/RingPacking.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace coil::topology;

namespace {

struct Wire {
  uint32_t a, b, links;
};

Mesh meshOf(uint32_t devices, const std::vector<Wire> &wires) {
  Mesh mesh(devices);
  for (Wire wire : wires) {
    mesh(wire.a, wire.b) += wire.links;
    mesh(wire.b, wire.a) += wire.links;
  }
  return mesh;
}

const Mesh cubeMesh = meshOf(8, {{0, 3, 2},
                                 {0, 4, 2},
                                 {1, 2, 2},
                                 {1, 5, 2},
                                 {2, 3, 2},
                                 {4, 7, 2},
                                 {5, 6, 2},
                                 {6, 7, 2},
                                 {0, 1, 1},
                                 {0, 2, 1},
                                 {1, 3, 1},
                                 {2, 6, 1},
                                 {3, 7, 1},
                                 {4, 5, 1},
                                 {4, 6, 1},
                                 {5, 7, 1}});
const Mesh cube = meshOf(8, {{0, 1, 1},
                             {0, 2, 1},
                             {0, 3, 1},
                             {1, 2, 1},
                             {1, 3, 1},
                             {2, 3, 1},
                             {4, 5, 1},
                             {4, 6, 1},
                             {4, 7, 1},
                             {5, 6, 1},
                             {5, 7, 1},
                             {6, 7, 1},
                             {0, 4, 1},
                             {1, 5, 1},
                             {2, 6, 1},
                             {3, 7, 1}});

/// The mesh with device order[i] in the place of i, or of some of its devices.
Mesh relabelled(const Mesh &mesh, const std::vector<uint32_t> &order) {
  Mesh result(uint32_t(order.size()));
  for (uint32_t a = 0; a < order.size(); ++a)
    for (uint32_t b = 0; b < order.size(); ++b)
      if (a != b)
        result(a, b) = mesh(order[a], order[b]);
  return result;
}

Mesh fullMesh(uint32_t devices, uint32_t links) {
  Mesh mesh(devices);
  for (uint32_t a = 0; a < devices; ++a)
    for (uint32_t b = 0; b < devices; ++b)
      mesh(a, b) = a == b ? 0 : links;
  return mesh;
}

/// The number of rings, which are checked.
size_t packed(const Mesh &mesh) {
  Mesh rest = mesh;
  std::vector<RingOrder> rings = packRings(mesh);
  for (const RingOrder &ring : rings) {
    RingOrder sorted = ring;
    std::sort(sorted.begin(), sorted.end());
    for (uint32_t i = 0; i < mesh.devices(); ++i)
      EXPECT_EQ(sorted.at(i), i);
    EXPECT_EQ(ring.front(), 0u);
    for (size_t i = 0; i < ring.size(); ++i) {
      uint32_t &links = rest(ring[i], ring[(i + 1) % ring.size()]);
      EXPECT_GT(links, 0u) << "a link is used twice, or there is none";
      --links;
    }
  }
  EXPECT_LE(rings.size(), mostRings(mesh));
  return rings.size();
}

/// The most rings there are, by trying all sets of them.
size_t mostByTrying(Mesh &mesh, const std::vector<RingOrder> &ways, size_t first) {
  size_t best = 0;
  for (size_t i = first; i < ways.size(); ++i) {
    const RingOrder &way = ways[i];
    bool fits = true;
    for (size_t at = 0; at < way.size(); ++at)
      fits &= mesh(way[at], way[(at + 1) % way.size()]) > 0;
    if (!fits)
      continue;
    for (size_t at = 0; at < way.size(); ++at)
      --mesh(way[at], way[(at + 1) % way.size()]);
    best = std::max(best, 1 + mostByTrying(mesh, ways, i));
    for (size_t at = 0; at < way.size(); ++at)
      ++mesh(way[at], way[(at + 1) % way.size()]);
  }
  return best;
}

} // namespace

TEST(RingPacking, MachinesThatPeopleKnow) {
  EXPECT_EQ(packed(cubeMesh), 6u);
  EXPECT_EQ(packed(cube), 4u);
  EXPECT_EQ(packed(fullMesh(4, 2)), 6u);
  EXPECT_EQ(packed(fullMesh(2, 3)), 3u);
  EXPECT_EQ(packed(fullMesh(16, 0)), 0u);
  EXPECT_EQ(packed(Mesh(1)), 0u);
}

TEST(RingPacking, SomeOfTheCubeMesh) {
  EXPECT_EQ(packed(relabelled(cubeMesh, {0, 1, 2, 3})), 4u);
  EXPECT_EQ(packed(relabelled(cubeMesh, {0, 1, 2, 3, 4, 5})), 2u);
  EXPECT_EQ(packed(relabelled(cubeMesh, {0, 1, 6, 7})), 0u);
  EXPECT_EQ(packed(relabelled(cubeMesh, {0, 4, 6, 7})), 0u);
}

TEST(RingPacking, LabelsDoNotMatter) {
  std::mt19937 random(7);
  std::vector<uint32_t> order(8);
  std::iota(order.begin(), order.end(), 0u);
  for (int trial = 0; trial < 100; ++trial) {
    std::shuffle(order.begin(), order.end(), random);
    ASSERT_EQ(packed(relabelled(cubeMesh, order)), 6u);
    ASSERT_EQ(packed(relabelled(cube, order)), 4u);
  }
}

TEST(RingPacking, DenseMeshes) {
  // A full mesh of 2n + 1 devices falls into n undirected rings; of 2n into n - 1 and pairs.
  EXPECT_EQ(packed(fullMesh(7, 1)), 6u);
  EXPECT_GE(packed(fullMesh(8, 1)), 6u);
  EXPECT_GE(packed(fullMesh(16, 1)), 12u);
}

TEST(RingPacking, RandomMeshesAgainstAllSetsOfRings) {
  std::mt19937 random(3);
  size_t total = 0, found = 0;
  for (int trial = 0; trial < 300; ++trial) {
    uint32_t devices = 3 + random() % 4;
    Mesh mesh(devices);
    bool isSymmetric = random() % 2 == 0;
    for (uint32_t a = 0; a < devices; ++a)
      for (uint32_t b = 0; b < devices; ++b)
        if (a < b || (!isSymmetric && a != b))
          mesh(a, b) = random() % (devices < 6 ? 3 : 2);
    for (uint32_t a = 0; isSymmetric && a < devices; ++a)
      for (uint32_t b = 0; b < a; ++b)
        mesh(a, b) = mesh(b, a);
    std::vector<RingOrder> ways;
    RingOrder way(devices);
    std::iota(way.begin(), way.end(), 0u);
    do {
      ways.push_back(way);
    } while (std::next_permutation(way.begin() + 1, way.end()));
    size_t most = mostByTrying(mesh, ways, 0), here = packed(mesh);
    ASSERT_LE(here, most);
    ASSERT_GE(here + 1, most) << "trial " << trial;
    total += most;
    found += here;
  }
  EXPECT_EQ(found, total);
}
