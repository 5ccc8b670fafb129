//===- FrontendFuzz.cpp - Any text through lexer, parser and checker ------===//
//
// No text may crash or hang the front end, and each stage must say whether it
// failed: a tree comes without errors, and errors come without a tree.
//
//===----------------------------------------------------------------------===//

#include "compiler/frontend/Frontend.h"

#include <cstdlib>
#include <sstream>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  coil::SourceManager sources;
  coil::DiagnosticEngine diagnostics;
  const coil::SourceFile &source =
      sources.add("fuzz.coil", std::string(reinterpret_cast<const char *>(data), size));
  std::unique_ptr<coil::ast::File> file = coil::parseFile(source, diagnostics);
  if ((file == nullptr) != diagnostics.hasErrors())
    std::abort();
  std::ostringstream out;
  if (file) {
    coil::dumpAst(*file, out);
    if (coil::checkFile(*file, diagnostics) == diagnostics.hasErrors())
      std::abort();
  }
  coil::render(diagnostics, out);
  return 0;
}
