//===- Report.h - The table and the JSON file -------------------*- C++ -*-===//

#ifndef COIL_TOOLS_COIL_RUN_REPORT_H
#define COIL_TOOLS_COIL_RUN_REPORT_H

#include "runtime/base/Status.h"
#include "tools/coil-run/Board.h"
#include "tools/coil-run/Job.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace coil::run {

/// A row and placement over all ranks.
struct Measurement {
  /// Of the slowest rank.
  double seconds;
  uint64_t iterations;
  /// Summed over the ranks; none if it was not checked.
  std::optional<uint64_t> wrong;
};

/// Bus bandwidth over algorithm bandwidth, as nccl-tests defines it: what a call
/// at least moves through each rank's link.
double busFactor(Collective collective, int ranks);

/// `value` with as many decimals, at most 2, as `width` characters allow for.
std::string shortNumber(double value, int width);

/// A string of JSON, quotes included.
std::string jsonString(std::string_view text);

/// Prints the rows as they are finished, and keeps them.
class Report {
public:
  explicit Report(const Job &job) : job(job) {}

  /// Opens the JSON file, so that a bad path shows before the run.
  Status open();
  /// `pids` has one entry a rank.
  void printHeader(std::span<const int> pids);
  /// Prints row `row`, which every rank has finished.
  void addRow(size_t row, Board &board);
  /// Prints the footer, and writes the JSON file if there is one. Fails if any of
  /// the output could not be written.
  Status finish(bool failed);

  uint64_t wrongElements() const { return wrong; }

private:
  using Measurements = std::array<std::optional<Measurement>, 2>;
  void print(const std::string &text);
  Status writeJson(bool failed);
  /// A failure to write the JSON file, for the reason in errno.
  Status jsonError() const;
  std::string columns(const Row &row, const std::optional<Measurement> &measurement) const;
  std::string jsonResult(size_t row, Placement placement, const Measurement &measurement) const;
  double bandwidth(const Row &row, const Measurement &measurement) const;
  double averageBusBandwidth() const;

  const Job &job;
  struct CloseFile {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, CloseFile> json;
  std::vector<Measurements> finished;
  uint64_t wrong = 0;
  /// Of the first write to standard output that failed, or 0.
  int printError = 0;
};

} // namespace coil::run

#endif // COIL_TOOLS_COIL_RUN_REPORT_H
