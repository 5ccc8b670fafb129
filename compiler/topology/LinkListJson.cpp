//===- LinkListJson.cpp - Topologies as lists of links --------------------===//

#include "compiler/topology/LinkListJson.h"

#include "compiler/topology/Bandwidth.h"

#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

namespace coil::topology {

namespace {

/// Deeper texts are refused before they are parsed, which takes a stack frame a level.
constexpr int mostNesting = 8;

/// Where the text nests too deeply; its end if nowhere.
size_t findDeepPlace(std::string_view text) {
  int depth = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString) {
      i += c == '\\';
      isString = c != '"';
    } else if (c == '"') {
      isString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > mostNesting)
        return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return text.size();
}

std::string describe(const llvm::json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return shown(text);
}

class LinkListReader {
public:
  LinkListReader(const SourceFile &file, DiagnosticEngine &diagnostics)
      : reporter(file, diagnostics) {}

  std::optional<ReadResult> run() {
    std::string_view text = reporter.source().text();
    if (size_t deep = findDeepPlace(text); deep < text.size()) {
      reporter.error(reporter.range(deep, deep + 1), "nested more than {} levels deep",
                     mostNesting);
      return std::nullopt;
    }
    llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
    if (!parsed) {
      reporter.error(reporter.whole(), "expected JSON: {}", llvm::toString(parsed.takeError()));
      return std::nullopt;
    }
    const llvm::json::Object *object = parsed->getAsObject();
    if (!object) {
      fail("expected a JSON object with nodes, gpus and links, found {}", describe(*parsed));
      return std::nullopt;
    }
    if (!readVertices(*object) || !readLinks(*object))
      return std::nullopt;
    ReadResult result;
    result.facts.set("kind", "link-list");
    result.facts.set("nodes", machine.graph.vertices().size());
    result.facts.set("gpus", machine.graph.ofKind(VertexKind::Gpu).size());
    result.facts.set("links", links);
    if (std::optional<llvm::StringRef> name = object->getString("name"))
      machine.name = shown(std::string_view(*name));
    else
      machine.name = reporter.source().name();
    result.topology = alone(std::move(machine));
    return result;
  }

private:
  template <typename... Args> bool fail(fmt::format_string<Args...> format, Args &&...args) {
    reporter.error(reporter.whole(), format, std::forward<Args>(args)...);
    return false;
  }

  /// The number of a vertex.
  std::optional<VertexId> vertexOf(const llvm::json::Value &value, std::string_view where) {
    std::optional<int64_t> number = value.getAsInteger();
    if (number && *number >= 0 && uint64_t(*number) < count)
      return VertexId(*number);
    fail("{}: expected the number of a node below {}, found {}", where, count, describe(value));
    return std::nullopt;
  }

  bool readVertices(const llvm::json::Object &object) {
    if (auto units = object.getString("units"); units && !units->contains("GB/s"))
      return fail("units: expected GB/s, found '{}'", shown(std::string_view(*units)));
    const llvm::json::Value *nodes = object.get("nodes");
    if (!nodes)
      return fail("expected a member 'nodes': a count, or a list of names");
    const llvm::json::Array *names = nodes->getAsArray();
    if (names)
      count = names->size();
    else if (auto number = nodes->getAsInteger(); number && *number >= 0)
      count = uint64_t(*number);
    else
      return fail("nodes: expected a count or a list of names, found {}", describe(*nodes));
    if (count == 0 || count > Limits::verticesOfMachine)
      return fail("nodes: expected 1 to {}, found {}", Limits::verticesOfMachine, count);

    const llvm::json::Array *gpus = object.getArray("gpus");
    if (!gpus || gpus->empty())
      return fail("expected a member 'gpus': a list of numbers of nodes, at least one");
    std::vector<int32_t> gpuOf(count, -1);
    for (size_t i = 0; i < gpus->size(); ++i) {
      std::string where = fmt::format("gpus[{}]", i);
      std::optional<VertexId> id = vertexOf((*gpus)[i], where);
      if (!id)
        return false;
      if (gpuOf[*id] >= 0)
        return fail("{}: node {} is gpus[{}] already", where, *id, gpuOf[*id]);
      gpuOf[*id] = int32_t(i);
    }
    Names unique;
    for (size_t i = 0; i < count; ++i) {
      Vertex vertex;
      vertex.kind = gpuOf[i] >= 0 ? VertexKind::Gpu : VertexKind::NetworkSwitch;
      vertex.index = gpuOf[i];
      std::string name = fmt::format("node{}", i);
      if (names) {
        std::optional<llvm::StringRef> given = (*names)[i].getAsString();
        if (!given)
          return fail("nodes[{}]: expected a name, found {}", i, describe((*names)[i]));
        name = shown(std::string_view(*given), Limits::nameBytes);
      }
      vertex.name = unique.unique(name);
      machine.graph.add(std::move(vertex));
    }
    return true;
  }

  bool readLinks(const llvm::json::Object &object) {
    const llvm::json::Array *list = object.getArray("links");
    if (!list)
      return fail("expected a member 'links': a list of [from, to, GB/s]");
    if (list->size() > Limits::linksOfMachine)
      return fail("links: expected at most {}, found {}", Limits::linksOfMachine, list->size());
    for (size_t i = 0; i < list->size(); ++i) {
      std::string where = fmt::format("links[{}]", i);
      const llvm::json::Array *link = (*list)[i].getAsArray();
      if (!link || link->size() < 3 || link->size() > 4)
        return fail("{}: expected [from, to, GB/s], found {}", where, describe((*list)[i]));
      std::optional<VertexId> from = vertexOf((*link)[0], where), to;
      if (from)
        to = vertexOf((*link)[1], where);
      if (!to)
        return false;
      if (*from == *to)
        return fail("{}: node {} is linked to itself", where, *from);
      std::optional<double> bandwidth = (*link)[2].getAsNumber(), seconds = 0.0;
      if (!bandwidth || !(*bandwidth > 0) || *bandwidth > Limits::bandwidth)
        return fail("{}: expected a bandwidth above 0 and up to {} GB/s, found {}", where,
                    Limits::bandwidth, describe((*link)[2]));
      if (link->size() == 4)
        seconds = (*link)[3].getAsNumber();
      if (!seconds || !(*seconds >= 0) || *seconds > 1)
        return fail("{}: expected a latency of 0 to 1 seconds, found {}", where,
                    describe((*link)[3]));
      bool joinsGpus = machine.graph[*from].kind == VertexKind::Gpu &&
                       machine.graph[*to].kind == VertexKind::Gpu;
      LinkKind kind = joinsGpus ? LinkKind::NvLink : LinkKind::Network;
      // The other direction is in the list too, or there is none.
      uint32_t number = machine.graph.linkBetween(*from, *to, kind) ? 0 : 1;
      machine.graph.connect({*from, *to, kind, number, *bandwidth, 0, *seconds * 1e6});
      ++links;
    }
    return true;
  }

  Reporter reporter;
  Machine machine;
  uint64_t count = 0;
  size_t links = 0;
};

} // namespace

bool mayBeLinkList(std::string_view text) { return trimmed(text.substr(0, 4096)).starts_with('{'); }

std::optional<ReadResult> readLinkListJson(const SourceFile &file, DiagnosticEngine &diagnostics) {
  return LinkListReader(file, diagnostics).run();
}

} // namespace coil::topology
