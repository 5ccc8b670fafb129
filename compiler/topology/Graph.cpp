//===- Graph.cpp - Devices, switches and the links between ----------------===//

#include "compiler/topology/Graph.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <tuple>

namespace coil::topology {

static constexpr std::array<const char *, 8> vertexNames = {
    "gpu", "core", "cpu", "nic", "pci-switch", "host-bridge", "nvswitch", "network-switch"};
static constexpr std::array<const char *, 7> linkNames = {"nvlink", "xgmi",   "c2c",    "pci",
                                                          "socket", "memory", "network"};

const char *nameOf(VertexKind kind) { return vertexNames[static_cast<size_t>(kind)]; }
const char *nameOf(LinkKind kind) { return linkNames[static_cast<size_t>(kind)]; }

template <typename Kind, size_t N>
static std::optional<Kind> kindNamed(const std::array<const char *, N> &names,
                                     std::string_view name) {
  for (size_t i = 0; i < N; ++i)
    if (name == names[i])
      return static_cast<Kind>(i);
  return std::nullopt;
}

std::optional<VertexKind> vertexKindNamed(std::string_view name) {
  return kindNamed<VertexKind>(vertexNames, name);
}
std::optional<LinkKind> linkKindNamed(std::string_view name) {
  return kindNamed<LinkKind>(linkNames, name);
}

static std::pair<VertexId, VertexId> ordered(VertexId a, VertexId b) { return std::minmax(a, b); }

static uint64_t keyOf(VertexId a, VertexId b, LinkKind kind) {
  auto [low, high] = ordered(a, b);
  // Vertices are far fewer than 2^30, kinds fewer than 2^4.
  return uint64_t(low) << 34 | uint64_t(high) << 4 | static_cast<uint64_t>(kind);
}

VertexId Graph::add(Vertex vertex) {
  allVertices.push_back(std::move(vertex));
  incident.emplace_back();
  return VertexId(allVertices.size() - 1);
}

LinkId Graph::connect(Link link) {
  assert(link.from != link.to && link.from < allVertices.size() && link.to < allVertices.size());
  auto [place, isNew] =
      linkOfPair.emplace(keyOf(link.from, link.to, link.kind), LinkId(allLinks.size()));
  if (isNew) {
    incident[link.from].push_back(place->second);
    incident[link.to].push_back(place->second);
    allLinks.push_back(link);
    return place->second;
  }
  Link &there = allLinks[place->second];
  there.count += link.count;
  there.forward += link.outOf(there.from);
  there.backward += link.outOf(there.to);
  there.latency = std::max(there.latency, link.latency);
  return place->second;
}

LinkId Graph::connect(VertexId a, VertexId b, LinkKind kind, double bandwidth, uint32_t count,
                      double latency) {
  return connect({a, b, kind, count, bandwidth * count, bandwidth * count, latency});
}

void Graph::disconnect(VertexId a, VertexId b, LinkKind kind) {
  auto place = linkOfPair.find(keyOf(a, b, kind));
  if (place == linkOfPair.end())
    return;
  LinkId gone = place->second, last = LinkId(allLinks.size() - 1);
  linkOfPair.erase(place);
  for (VertexId end : {a, b})
    std::erase(incident[end], gone);
  if (gone != last) {
    // The last link takes the number that is free now.
    allLinks[gone] = allLinks[last];
    const Link &moved = allLinks[gone];
    linkOfPair[keyOf(moved.from, moved.to, moved.kind)] = gone;
    for (VertexId end : {moved.from, moved.to})
      std::replace(incident[end].begin(), incident[end].end(), last, gone);
  }
  allLinks.pop_back();
}

const Link *Graph::linkBetween(VertexId a, VertexId b, LinkKind kind) const {
  auto place = linkOfPair.find(keyOf(a, b, kind));
  return place == linkOfPair.end() ? nullptr : &allLinks[place->second];
}

const Link *Graph::linkBetween(VertexId a, VertexId b) const {
  const Link *best = nullptr;
  for (size_t kind = 0; kind < linkNames.size(); ++kind) {
    const Link *link = linkBetween(a, b, static_cast<LinkKind>(kind));
    if (link && (!best || link->outOf(a) > best->outOf(a)))
      best = link;
  }
  return best;
}

std::vector<VertexId> Graph::ofKind(VertexKind kind) const {
  std::vector<VertexId> found;
  for (VertexId id = 0; id < allVertices.size(); ++id)
    if (allVertices[id].kind == kind)
      found.push_back(id);
  if (kind == VertexKind::Gpu)
    std::sort(found.begin(), found.end(), [&](VertexId a, VertexId b) {
      const Vertex &left = allVertices[a], &right = allVertices[b];
      return std::tie(left.node, left.index, a) < std::tie(right.node, right.index, b);
    });
  return found;
}

std::vector<VertexId> Graph::devices() const {
  for (VertexKind kind : {VertexKind::Gpu, VertexKind::Core})
    if (std::vector<VertexId> found = ofKind(kind); !found.empty())
      return found;
  return ofKind(VertexKind::Cpu);
}

VertexId Graph::find(std::string_view name) const {
  for (VertexId id = 0; id < allVertices.size(); ++id)
    if (allVertices[id].name == name)
      return id;
  return noVertex;
}

void Graph::statePath(VertexId a, VertexId b, PathClass path) { stated[ordered(a, b)] = path; }

std::optional<PathClass> Graph::statedPath(VertexId a, VertexId b) const {
  auto place = stated.find(ordered(a, b));
  if (place == stated.end())
    return std::nullopt;
  return place->second;
}

void Graph::denyPeerAccess(VertexId a, VertexId b, std::string why) {
  denied[ordered(a, b)] = std::move(why);
}

const std::string *Graph::peerAccessDenied(VertexId a, VertexId b) const {
  auto place = denied.find(ordered(a, b));
  return place == denied.end() ? nullptr : &place->second;
}

double peerBandwidth(const Graph &graph, VertexId device) {
  double sum = 0;
  for (LinkId id : graph.linksAt(device)) {
    const Link &link = graph.link(id);
    VertexKind other = graph[link.other(device)].kind;
    if (isPeerLink(link.kind) && other != VertexKind::Cpu)
      sum += link.outOf(device);
  }
  return sum;
}

} // namespace coil::topology
