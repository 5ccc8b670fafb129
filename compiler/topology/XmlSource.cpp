//===- XmlSource.cpp - XML with places ------------------------------------===//

#include "compiler/topology/XmlSource.h"

#include <algorithm>
#include <cstring>

namespace coil::topology {

bool XmlSource::parse(Reporter &reporter) {
  file = &reporter.source();
  std::string_view text = file->text();
  pugi::xml_parse_result result = document.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  size_t place = std::min(size_t(std::max<ptrdiff_t>(result.offset, 0)), text.size());
  if (!result) {
    reporter.error(reporter.range(place, place), "expected XML: {}",
                   lowerCase(result.description()));
    return false;
  }
  if (!root()) {
    reporter.error(reporter.whole(), "expected XML with an element, found none");
    return false;
  }
  return true;
}

SourceRange XmlSource::rangeOf(pugi::xml_node element) const {
  ptrdiff_t offset = element.offset_debug();
  if (offset < 0)
    return {file, 0, 0};
  size_t begin = std::min(size_t(offset), file->text().size());
  size_t end = std::min(begin + std::strlen(element.name()), file->text().size());
  return {file, uint32_t(begin), uint32_t(end)};
}

SourceRange XmlSource::rangeOf(pugi::xml_node element, const char *attribute) const {
  SourceRange name = rangeOf(element);
  std::string_view text = file->text();
  // From one attribute of the tag to the next; the parser has seen that they are well-formed.
  size_t at = name.end;
  while (at < text.size() && text[at] != '>') {
    size_t equals = text.find('=', at);
    size_t quote = equals == std::string_view::npos ? equals : text.find_first_of("\"'", equals);
    if (quote == std::string_view::npos)
      break;
    size_t close = text.find(text[quote], quote + 1);
    if (close == std::string_view::npos)
      break;
    if (trimmed(text.substr(at, equals - at)) == attribute)
      return {file, uint32_t(quote + 1), uint32_t(close)};
    at = close + 1;
  }
  return name;
}

} // namespace coil::topology
