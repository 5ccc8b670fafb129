//===- Imports.cpp - The files that a program imports ---------------------===//

#include "compiler/frontend/Imports.h"

#include "compiler/frontend/Frontend.h"

#include <filesystem>
#include <fmt/ranges.h>
#include <map>
#include <set>

namespace coil {

using namespace ast;
namespace fs = std::filesystem;

namespace {

class Loader {
public:
  Loader(const std::vector<std::string> &folders, SourceManager &sources,
         DiagnosticEngine &diagnostics)
      : folders(folders), sources(sources), diagnostics(diagnostics) {}

  std::vector<std::unique_ptr<File>> files;

  /// Parses one file and what it imports; `import` is null for the first.
  File *load(const std::string &path, const Import *import) {
    std::error_code ignored;
    fs::path found = fs::weakly_canonical(path, ignored);
    std::string identity = path == "-" || ignored ? path : found.string();
    if (auto known = byPath.find(identity); known != byPath.end()) {
      if (!loading.contains(identity))
        return known->second;
      diagnostics.error(import->range, "'{}' imports itself, here or through others", path);
      return nullptr;
    }
    if (files.size() > maxImportedFiles) {
      diagnostics.error(import->range, "more than {} files are imported", maxImportedFiles);
      return nullptr;
    }
    const SourceFile *source = sources.open(path, diagnostics);
    if (!source)
      return nullptr;
    bytes += source->text().size();
    if (bytes > maxImportedBytes) {
      diagnostics.error({source}, "the files are longer than {} MiB together",
                        maxImportedBytes >> 20);
      return nullptr;
    }
    std::unique_ptr<File> parsed = parseFile(*source, diagnostics);
    if (!parsed)
      return nullptr;
    File *file = parsed.get();
    files.push_back(std::move(parsed));
    byPath[identity] = file;
    loading.insert(identity);
    if (import) {
      std::string prefix = import->module.text;
      for (int i = 2; !prefixes.insert(prefix).second; ++i)
        prefix = fmt::format("{}_{}", import->module.text, i);
      file->prefix = prefix + ".";
    }
    fs::path folder = path == "-" ? fs::path() : fs::path(path).parent_path();
    for (Import &each : file->imports)
      if (!(each.file = find(each, folder)))
        return nullptr;
    loading.erase(identity);
    return file;
  }

private:
  File *find(const Import &import, const fs::path &beside) {
    std::vector<fs::path> candidates{beside / import.path};
    for (const std::string &folder : folders)
      candidates.push_back(fs::path(folder) / import.path);
    std::vector<std::string> tried;
    for (const fs::path &candidate : candidates) {
      std::string path = candidate.lexically_normal().string();
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored))
        return load(path, &import);
      tried.push_back("'" + path + "'");
    }
    diagnostics.error(import.range, "there is no file {}", fmt::join(tried, " or "));
    return nullptr;
  }

  const std::vector<std::string> &folders;
  SourceManager &sources;
  DiagnosticEngine &diagnostics;
  std::map<std::string, File *> byPath;
  /// Files whose imports are being loaded.
  std::set<std::string> loading;
  std::set<std::string> prefixes;
  size_t bytes = 0;
};

} // namespace

std::vector<std::unique_ptr<File>> parseProgram(const std::string &path,
                                                const std::vector<std::string> &folders,
                                                SourceManager &sources,
                                                DiagnosticEngine &diagnostics) {
  Loader loader(folders, sources, diagnostics);
  if (!loader.load(path, nullptr))
    return {};
  return std::move(loader.files);
}

std::string libraryFolder() {
  std::error_code failed;
  fs::path program = fs::read_symlink("/proc/self/exe", failed);
  fs::path folder = program.parent_path().parent_path() / "share" / "coil" / "examples";
  return !failed && fs::is_directory(folder, failed) ? folder.string() : std::string();
}

} // namespace coil
