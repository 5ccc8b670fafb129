//===- RingPacking.h - Rings that share no link -----------------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_MAPPING_RINGPACKING_H
#define COIL_COMPILER_TOPOLOGY_MAPPING_RINGPACKING_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coil::topology {

/// Whole links between devices, each direction by itself.
class Mesh {
public:
  explicit Mesh(uint32_t devices) : count(devices), links(size_t(devices) * devices, 0) {}

  uint32_t devices() const { return count; }
  uint32_t operator()(uint32_t from, uint32_t to) const { return links[size_t(from) * count + to]; }
  uint32_t &operator()(uint32_t from, uint32_t to) { return links[size_t(from) * count + to]; }

private:
  uint32_t count;
  std::vector<uint32_t> links;
};

/// The order in which a ring visits all devices, from device 0 on.
using RingOrder = std::vector<uint32_t>;

/// No more rings than this share no link: the least number of links in or out of a device.
uint32_t mostRings(const Mesh &mesh);

/// As many directed rings through all devices as are found that use each link once at most. What
/// is tried follows from the mesh alone, so that equal meshes give equal rings. Where there are few
/// ways around, as in meshes of NVLinks, all are weighed against each other, and the result is
/// the most there can be unless the search was cut off; in dense meshes rings are drawn one after
/// the other, again and again. Takes well below a second.
std::vector<RingOrder> packRings(const Mesh &mesh);

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_MAPPING_RINGPACKING_H
