//===- NcclFacts.cpp - What NCCL's topology files say ---------------------===//

#include "compiler/topology/NcclElements.h"
#include "compiler/topology/Reader.h"
#include "compiler/topology/XmlSource.h"

#include <functional>
#include <map>

namespace coil::topology {

bool isGpuClass(std::string_view code) {
  return code.starts_with("0x03") || code.starts_with("0x12");
}
bool isNicClass(std::string_view code) { return code.starts_with("0x02"); }
bool isBridgeClass(std::string_view code) { return code.starts_with("0x0604"); }
bool isNpuClass(std::string_view code) { return code.starts_with("0x068001"); }
bool isNvSwitchClass(std::string_view code) {
  return code.starts_with("0x0680") && !isNpuClass(code);
}
bool isGpuLinkElement(std::string_view name) { return name == "nvlink" || name == "xgmi"; }

namespace {

/// Names GPUs by their `dev`, as NCCL does.
class FactCollector {
public:
  Json collect(pugi::xml_node root) {
    visit(root, "", 0);
    Json facts = Json::object();
    facts.set("kind", "nccl-topo");
    facts.set("version", textOf(root, "version"));
    facts.set("numaids", std::move(numaIds));
    facts.set("gpu_elements", std::move(gpuElements));
    facts.set("gpu_pci_by_class", std::move(gpusByClass));
    facts.set("nic_pci_by_class", std::move(nicsByClass));
    facts.set("nets", std::move(nets));
    facts.set("bridges", bridges);
    collectLinks(facts);
    return facts;
  }

private:
  static Json textOf(pugi::xml_node element, const char *name) {
    pugi::xml_attribute attribute = element.attribute(name);
    return attribute ? Json(attribute.value()) : Json();
  }
  static Json numberOf(pugi::xml_node element, const char *name) {
    auto number = wholeNumber(element.attribute(name).value(), INT32_MIN, INT32_MAX);
    return number ? Json(*number) : Json();
  }

  void visit(pugi::xml_node element, std::string_view numaId, int level) {
    std::string_view name = element.name();
    if (name == "cpu") {
      numaId = element.attribute("numaid").value();
      numaIds.push(numaId);
    } else if (name == "pci") {
      std::string_view code = element.attribute("class").value();
      if (isGpuClass(code))
        gpusByClass.push(textOf(element, "busid"));
      if (isNicClass(code))
        nicsByClass.push(textOf(element, "busid"));
      bridges += isBridgeClass(code);
    } else if (name == "gpu") {
      visitGpu(element, numaId);
    } else if (name == "net") {
      nets.push(textOf(element, "name"));
    }
    if (level < mostXmlLevels)
      for (pugi::xml_node child : element.children())
        visit(child, numaId, level + 1);
  }

  void visitGpu(pugi::xml_node element, std::string_view numaId) {
    pugi::xml_attribute busId = element.parent().attribute("busid");
    Json gpu = Json::object();
    gpu.set("dev", numberOf(element, "dev"));
    gpu.set("rank", numberOf(element, "rank"));
    gpu.set("busid", textOf(element.parent(), "busid"));
    gpu.set("numaid", numaId);
    gpu.set("sm", textOf(element, "sm"));
    gpuElements.push(std::move(gpu));
    auto dev = wholeNumber(element.attribute("dev").value(), INT32_MIN, INT32_MAX);
    if (!dev)
      return;
    devOfBusId.emplace(normalBusId(busId.value()), *dev);
    gpus.push_back({element, *dev});
  }

  void collectLinks(Json &facts) {
    std::map<std::pair<int64_t, int64_t>, int64_t> pairs;
    std::map<int64_t, int64_t> toSwitch;
    std::set<int64_t> toSelf;
    for (auto [element, dev] : gpus) {
      std::map<int64_t, int64_t> toPeer;
      for (pugi::xml_node link : element.children()) {
        if (!isGpuLinkElement(link.name()))
          continue;
        std::string target = normalBusId(link.attribute("target").value());
        std::string_view code = link.attribute("tclass").value();
        int64_t count = wholeNumber(link.attribute("count").value(), 0, UINT16_MAX).value_or(0);
        auto peer = devOfBusId.find(target);
        if (isNvSwitchClass(code))
          toSwitch[dev] += count;
        else if (peer != devOfBusId.end() && peer->second == dev)
          toSelf.insert(dev);
        else if (peer != devOfBusId.end())
          toPeer[peer->second] += count;
      }
      for (auto [peer, count] : toPeer) {
        int64_t &ofPair = pairs[std::minmax(dev, peer)];
        ofPair = std::max(ofPair, count);
      }
    }
    Json pairList = Json::array(), switchLinks = Json::object(), selfLinks = Json::array();
    for (auto [pair, count] : pairs)
      pairList.push(Json::Array{pair.first, pair.second, count});
    for (auto [dev, count] : toSwitch)
      switchLinks.set(fmt::format("{}", dev), count);
    for (int64_t dev : toSelf)
      selfLinks.push(dev);
    facts.set("gpu_link_pairs", std::move(pairList));
    facts.set("gpu_switch_links", std::move(switchLinks));
    facts.set("self_links", std::move(selfLinks));
  }

  Json numaIds = Json::array(), gpuElements = Json::array(), gpusByClass = Json::array(),
       nicsByClass = Json::array(), nets = Json::array();
  int64_t bridges = 0;
  std::map<std::string, int64_t> devOfBusId;
  std::vector<std::pair<pugi::xml_node, int64_t>> gpus;
};

} // namespace

Json factsOfNcclTopology(pugi::xml_node root) { return FactCollector().collect(root); }

} // namespace coil::topology
