//===- RingPacking.cpp - Rings that share no link -------------------------===//

#include "compiler/topology/mapping/RingPacking.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <tuple>

namespace coil::topology {

namespace {

constexpr size_t mostWays = 4096; ///< ways around that are weighed against each other
constexpr size_t stepsToFind = 2'000'000;
constexpr size_t stepsToPack = 4'000'000; ///< for each number of rings
constexpr int draws = 400;
constexpr size_t stepsOfDraw = 20'000;

void take(Mesh &mesh, const RingOrder &ring, int links) {
  for (size_t i = 0; i < ring.size(); ++i)
    mesh(ring[i], ring[(i + 1) % ring.size()]) -= static_cast<uint32_t>(links);
}

bool fits(const Mesh &mesh, const RingOrder &ring) {
  for (size_t i = 0; i < ring.size(); ++i)
    if (mesh(ring[i], ring[(i + 1) % ring.size()]) == 0)
      return false;
  return true;
}

/// All rings of a mesh, or nothing if they are too many.
class WaysAround {
public:
  explicit WaysAround(const Mesh &mesh) : mesh(mesh), isVisited(mesh.devices(), false) {
    ring.push_back(0);
    isVisited[0] = true;
    isComplete = extend();
  }

  std::vector<RingOrder> ways;
  bool isComplete;

private:
  bool extend() {
    if (++steps > stepsToFind || ways.size() > mostWays)
      return false;
    if (ring.size() == mesh.devices()) {
      if (mesh(ring.back(), 0) > 0)
        ways.push_back(ring);
      return true;
    }
    uint32_t last = ring.back();
    for (uint32_t next = 1; next < mesh.devices(); ++next) {
      if (isVisited[next] || mesh(last, next) == 0)
        continue;
      ring.push_back(next);
      isVisited[next] = true;
      bool goesOn = extend();
      isVisited[next] = false;
      ring.pop_back();
      if (!goesOn)
        return false;
    }
    return true;
  }

  const Mesh &mesh;
  RingOrder ring;
  std::vector<bool> isVisited;
  size_t steps = 0;
};

/// Chooses rings out of all ways around.
class Packing {
public:
  Packing(const Mesh &mesh, const std::vector<RingOrder> &ways) : rest(mesh), ways(ways) {}

  /// So many rings, or none.
  std::vector<RingOrder> find(uint32_t rings) {
    steps = 0;
    chosen.clear();
    // A ring takes one link out of every device, so who has none to spare never will.
    hasNoneToSpare.assign(rest.devices(), false);
    for (uint32_t device = 0; device < rest.devices(); ++device)
      hasNoneToSpare[device] = linksOut(device) == rings;
    return choose(rings, 0) ? chosen : std::vector<RingOrder>();
  }

private:
  uint32_t linksOut(uint32_t device) const {
    uint32_t sum = 0;
    for (uint32_t to = 0; to < rest.devices(); ++to)
      sum += rest(device, to);
    return sum;
  }

  bool choose(uint32_t rings, size_t first) {
    if (rings == 0)
      return true;
    std::vector<size_t> fitting;
    for (size_t i = first; i < ways.size(); ++i)
      if (fits(rest, ways[i]))
        fitting.push_back(i);
    steps += ways.size() - first + 1;
    if (steps > stepsToPack)
      return false;
    // Every link out of a device without spare ones must be used: the one with the fewest ways
    // left is decided first.
    std::vector<size_t> *candidates = &fitting, ofLink;
    bool isForced = findRarestLink(fitting, ofLink);
    if (isForced)
      candidates = &ofLink;
    for (size_t i : *candidates) {
      take(rest, ways[i], 1);
      chosen.push_back(ways[i]);
      // Else the rings are taken in their order, since any order of them is as good.
      if (choose(rings - 1, isForced ? 0 : i))
        return true;
      chosen.pop_back();
      take(rest, ways[i], -1);
    }
    return false;
  }

  /// Whether a link must be used; if so, the ways that use the rarest such link.
  bool findRarestLink(const std::vector<size_t> &fitting, std::vector<size_t> &ofLink) const {
    uint32_t devices = rest.devices();
    std::vector<uint32_t> uses(size_t(devices) * devices, 0);
    for (size_t i : fitting)
      for (size_t at = 0; at < devices; ++at)
        ++uses[ways[i][at] * devices + ways[i][(at + 1) % devices]];
    size_t rarest = uses.size();
    for (uint32_t from = 0; from < devices; ++from)
      for (uint32_t to = 0; to < devices && hasNoneToSpare[from]; ++to)
        if (size_t link = size_t(from) * devices + to;
            rest(from, to) > 0 && (rarest == uses.size() || uses[link] < uses[rarest]))
          rarest = link;
    if (rarest == uses.size())
      return false;
    for (size_t i : fitting)
      for (size_t at = 0; at < devices; ++at)
        if (ways[i][at] * devices + ways[i][(at + 1) % devices] == rarest)
          ofLink.push_back(i);
    return true;
  }

  Mesh rest;
  const std::vector<RingOrder> &ways;
  std::vector<bool> hasNoneToSpare;
  std::vector<RingOrder> chosen;
  size_t steps = 0;
};

/// Draws rings one by one from what is left of a dense mesh.
class Drawing {
public:
  Drawing(const Mesh &mesh, uint32_t seed) : rest(mesh), random(seed) {}

  std::vector<RingOrder> run(uint32_t most) {
    std::vector<RingOrder> rings;
    while (rings.size() < most && draw()) {
      take(rest, ring, 1);
      rings.push_back(ring);
      // Links go both ways as a rule, so the way back is often free too.
      RingOrder back = ring;
      std::reverse(back.begin() + 1, back.end());
      if (rings.size() < most && fits(rest, back)) {
        take(rest, back, 1);
        rings.push_back(back);
      }
    }
    return rings;
  }

private:
  bool draw() {
    ring.assign(1, 0);
    isVisited.assign(rest.devices(), false);
    isVisited[0] = true;
    steps = 0;
    return extend();
  }

  bool extend() {
    uint32_t last = ring.back();
    if (ring.size() == rest.devices())
      return rest(last, 0) > 0;
    if (++steps > stepsOfDraw)
      return false;
    // Most links first, so that none is left alone; among equals by chance.
    struct Next {
      uint32_t links, chance, device;
    };
    std::vector<Next> nexts;
    for (uint32_t next = 1; next < rest.devices(); ++next)
      if (!isVisited[next] && rest(last, next) > 0)
        nexts.push_back({rest(last, next), static_cast<uint32_t>(random()), next});
    std::sort(nexts.begin(), nexts.end(), [](const Next &a, const Next &b) {
      return std::tuple(b.links, a.chance, a.device) < std::tuple(a.links, b.chance, b.device);
    });
    for (auto [links, chance, next] : nexts) {
      ring.push_back(next);
      isVisited[next] = true;
      if (extend())
        return true;
      isVisited[next] = false;
      ring.pop_back();
    }
    return false;
  }

  Mesh rest;
  std::mt19937 random;
  RingOrder ring;
  std::vector<bool> isVisited;
  size_t steps = 0;
};

} // namespace

uint32_t mostRings(const Mesh &mesh) {
  if (mesh.devices() < 2)
    return 0;
  uint32_t most = ~0u;
  for (uint32_t device = 0; device < mesh.devices(); ++device) {
    uint32_t out = 0, in = 0;
    for (uint32_t other = 0; other < mesh.devices(); ++other) {
      out += mesh(device, other);
      in += mesh(other, device);
    }
    most = std::min({most, out, in});
  }
  return most;
}

std::vector<RingOrder> packRings(const Mesh &mesh) {
  uint32_t most = mostRings(mesh);
  if (most == 0)
    return {};
  WaysAround around(mesh);
  if (around.isComplete) {
    Packing packing(mesh, around.ways);
    for (uint32_t rings = around.ways.empty() ? 0 : most; rings > 0; --rings)
      if (std::vector<RingOrder> found = packing.find(rings); !found.empty())
        return found;
    return {};
  }
  std::vector<RingOrder> best;
  for (int seed = 0; seed < draws && best.size() < most; ++seed)
    if (std::vector<RingOrder> found = Drawing(mesh, uint32_t(seed)).run(most);
        found.size() > best.size())
      best = std::move(found);
  return best;
}

} // namespace coil::topology
