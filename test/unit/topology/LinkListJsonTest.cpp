//===- LinkListJsonTest.cpp - Lists of links, right and wrong -------------===//

#include "compiler/topology/LinkListJson.h"

#include <gmock/gmock.h>
#include <sstream>

using namespace coil;
using namespace coil::topology;
using testing::HasSubstr;

namespace {

struct Read {
  SourceManager sources;
  DiagnosticEngine diagnostics;
  std::optional<ReadResult> result;

  explicit Read(std::string text) {
    result = readLinkListJson(sources.add("list.json", std::move(text)), diagnostics);
  }
  std::string errors() {
    std::ostringstream out;
    render(diagnostics, out);
    return out.str();
  }
};

void expectError(const char *text, const char *message) {
  Read read(text);
  EXPECT_FALSE(read.result) << text;
  EXPECT_THAT(read.errors(), HasSubstr(message)) << text;
}

} // namespace

TEST(LinkListJson, DirectionsAreApart) {
  Read read(R"({"name": "two", "nodes": ["a", "b", "c"], "gpus": [2, 0], "units": "GB/s",
                "links": [[0, 1, 25], [1, 0, 12.5], [1, 2, 3], [2, 1, 3, 1.3e-6], [0, 2, 1]]})");
  ASSERT_TRUE(read.result) << read.errors();
  const Graph &graph = read.result->topology.graphOf(0);
  EXPECT_EQ(graph.devices(), (std::vector<VertexId>{2, 0}));
  EXPECT_EQ(graph[1].kind, VertexKind::NetworkSwitch);
  const Link *link = graph.linkBetween(0, 1);
  ASSERT_TRUE(link);
  EXPECT_EQ(link->outOf(0), 25);
  EXPECT_EQ(link->outOf(1), 12.5);
  EXPECT_EQ(link->count, 1u);
  EXPECT_NEAR(graph.linkBetween(1, 2)->latency, 1.3, 1e-9);
  EXPECT_EQ(graph.linkBetween(0, 2)->outOf(2), 0);
  EXPECT_EQ(read.result->topology.name, "two");
}

TEST(LinkListJson, SaysWhatIsWrong) {
  expectError("{", "expected JSON: ");
  expectError("[1]", "expected a JSON object with nodes, gpus and links, found [1]");
  expectError("{}", "expected a member 'nodes': a count, or a list of names");
  expectError(R"({"nodes": 0})", "nodes: expected 1 to 16384, found 0");
  expectError(R"({"nodes": 1e18})", "nodes: expected 1 to 16384, found 1000000000000000000");
  expectError(R"({"nodes": -1})", "nodes: expected a count or a list of names, found -1");
  expectError(R"({"nodes": 2, "gpus": []})", "expected a member 'gpus'");
  expectError(R"({"nodes": 2, "gpus": [2]})",
              "gpus[0]: expected the number of a node below 2, found 2");
  expectError(R"({"nodes": 2, "gpus": [1, 1]})", "gpus[1]: node 1 is gpus[0] already");
  expectError(R"({"nodes": [1], "gpus": [0]})", "nodes[0]: expected a name, found 1");
  expectError(R"({"nodes": 2, "gpus": [0, 1], "units": "Gb/s"})",
              "units: expected GB/s, found 'Gb/s'");
  expectError(R"({"nodes": 2, "gpus": [0, 1]})", "expected a member 'links'");
  for (auto [link, message] :
       {std::pair("[0, 1]", "links[0]: expected [from, to, GB/s], found [0,1]"),
        {"3", "links[0]: expected [from, to, GB/s], found 3"},
        {"[0, 2, 1]", "links[0]: expected the number of a node below 2, found 2"},
        {"[1, 1, 1]", "links[0]: node 1 is linked to itself"},
        {"[0, 1, 0]", "links[0]: expected a bandwidth above 0 and up to 1000000 GB/s, found 0"},
        {"[0, 1, \"25\"]", "links[0]: expected a bandwidth above 0"},
        {"[0, 1, 1, -1]", "links[0]: expected a latency of 0 to 1 seconds, found -1"}}) {
    std::string text = R"({"nodes": 2, "gpus": [0, 1], "links": [)" + std::string(link) + "]}";
    expectError(text.c_str(), message);
  }
  expectError((std::string(100000, '[')).c_str(),
              "list.json:1:9: error: nested more than 8 levels deep");
}
