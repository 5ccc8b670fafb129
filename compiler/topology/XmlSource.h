//===- XmlSource.h - XML with places ----------------------------*- C++ -*-===//

#ifndef COIL_COMPILER_TOPOLOGY_XMLSOURCE_H
#define COIL_COMPILER_TOPOLOGY_XMLSOURCE_H

#include "compiler/topology/Reader.h"

#include <pugixml.hpp>

namespace coil::topology {

/// Elements nested deeper than this are refused.
inline constexpr int mostXmlLevels = 64;

/// A parsed document whose elements know where they stand.
class XmlSource {
public:
  /// Parses a file, or reports an error.
  bool parse(Reporter &reporter);

  /// The first element, past comments, declarations and document types.
  pugi::xml_node root() const { return document.document_element(); }
  /// An element's name in the text.
  SourceRange rangeOf(pugi::xml_node element) const;
  /// An attribute's value in the text, or the element's name if there is no such attribute.
  SourceRange rangeOf(pugi::xml_node element, const char *attribute) const;

private:
  const SourceFile *file = nullptr;
  pugi::xml_document document;
};

} // namespace coil::topology

#endif // COIL_COMPILER_TOPOLOGY_XMLSOURCE_H
