//===- Launcher.cpp - Starts the ranks and watches over them --------------===//

#include "tools/coil-run/Launcher.h"

#include "tools/coil-run/RankMain.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace coil::run {

namespace {

using Clock = std::chrono::steady_clock;

/// A rank's exit status that says that it has told what went wrong.
constexpr int rankFailed = 1;
/// Time that ranks have to end by themselves once one has failed, which the
/// runtime tells all at once.
constexpr auto graceAfterFailure = std::chrono::seconds(5);
/// Time to end once all rows are there, beyond the ranks' own time-out.
constexpr auto graceAtEnd = std::chrono::seconds(5);

void say(const std::string &message) {
  std::string line = fmt::format("coil-run: {}\n", message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

/// Blocks signals while it lives and gives a descriptor to read them from.
class SignalWatch {
public:
  SignalWatch() {
    sigemptyset(&watched);
    for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD})
      sigaddset(&watched, signal);
    sigprocmask(SIG_BLOCK, &watched, &before);
    descriptor = UniqueFd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  SignalWatch(const SignalWatch &) = delete;
  SignalWatch &operator=(const SignalWatch &) = delete;
  ~SignalWatch() { sigprocmask(SIG_SETMASK, &before, nullptr); }

  int get() const { return descriptor.get(); }
  const sigset_t &maskBefore() const { return before; }

  /// The next signal that has come but SIGCHLD, or 0. Empties the descriptor.
  int take() {
    signalfd_siginfo info;
    int found = 0;
    while (read(descriptor.get(), &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info)))
      if (info.ssi_signo != SIGCHLD && found == 0)
        found = static_cast<int>(info.ssi_signo);
    return found;
  }

private:
  sigset_t watched, before;
  UniqueFd descriptor;
};

/// The ranks `first` up to `end`, all of one process.
bool runThreads(const Job &job, Board &board, int first, int end) {
  std::atomic<bool> good{true};
  std::vector<std::thread> threads;
  try {
    for (int rank = first; rank < end; ++rank)
      threads.emplace_back([&, rank] {
        if (!runRank(job, board, rank))
          good = false;
      });
  } catch (const std::exception &error) {
    say(fmt::format("cannot start rank {}: {}", first + static_cast<int>(threads.size()),
                    error.what()));
    board.fail();
    good = false;
  }
  for (std::thread &thread : threads)
    thread.join();
  return good;
}

class Supervisor {
public:
  Supervisor(const Job &job, Board &board, Report &report)
      : job(job), board(board), report(report) {}
  Supervisor(const Supervisor &) = delete;
  Supervisor &operator=(const Supervisor &) = delete;
  /// Whatever made the run end, nothing is left.
  ~Supervisor() { killAll(); }

  Result<RunEnd> run() {
    if (signals.get() < 0)
      return Status::system(errno, "cannot make a signal descriptor");
    COIL_RETURN_IF_ERROR(start());
    std::vector<int> pids;
    for (int rank = 0; rank < job.ranks; ++rank)
      pids.push_back(children[static_cast<size_t>(rank / job.ranksPerProcess)].pid);
    report.printHeader(pids);
    while (running() > 0 && end.signal == 0)
      watch();
    takeRows();
    killAll();
    return end;
  }

private:
  struct Child {
    int pid;
    bool ended = false;
  };

  Status start() {
    // What is still buffered would be written by every process once more.
    std::fflush(nullptr);
    pid_t parent = getpid();
    for (int first = 0; first < job.ranks; first += job.ranksPerProcess) {
      pid_t pid = fork();
      if (pid < 0)
        return Status::system(errno, "cannot start a process for rank {}", first);
      if (pid == 0)
        beChild(parent, first, std::min(first + job.ranksPerProcess, job.ranks));
      children.push_back({pid});
    }
    return Status::ok();
  }

  [[noreturn]] void beChild(pid_t parent, int first, int end) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) // it died before the line above
      _exit(rankFailed);
    // A terminal's Ctrl-C comes to all; the parent ends the run.
    std::signal(SIGINT, SIG_IGN);
    sigprocmask(SIG_SETMASK, &signals.maskBefore(), nullptr);
    bool good = end - first > 1 ? runThreads(job, board, first, end) : runRank(job, board, first);
    // Not exit(): what the parent registered to run at exit is the parent's.
    _exit(good ? 0 : rankFailed);
  }

  size_t running() const {
    return static_cast<size_t>(std::count_if(children.begin(), children.end(),
                                             [](const Child &child) { return !child.ended; }));
  }

  /// Waits for something to happen, and deals with it.
  void watch() {
    std::array<pollfd, 2> events{{{signals.get(), POLLIN, 0}, {board.rowEvent(), POLLIN, 0}}};
    poll(events.data(), events.size(), millisecondsLeft());
    if (int signal = signals.take()) {
      end.signal = signal;
      say(fmt::format("ended by signal {} ({})", signal, strsignal(signal)));
      return;
    }
    takeRows();
    reap();
    if (deadline && Clock::now() >= *deadline && running() > 0)
      giveUp();
  }

  int millisecondsLeft() const {
    if (!deadline)
      return -1;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now()).count();
    return static_cast<int>(std::clamp<int64_t>(left, 0, 60000));
  }

  void takeRows() {
    board.clearRowEvent();
    for (; rowsTaken < job.rows.size() && board.isFinished(rowsTaken); ++rowsTaken)
      report.addRow(rowsTaken, board);
    if (rowsTaken == job.rows.size())
      endWithin(graceAtEnd + std::chrono::milliseconds(job.options.timeoutMs));
  }

  /// The ranks should end by themselves, within `time` from now or an earlier call.
  void endWithin(Clock::duration time) {
    Clock::time_point limit = Clock::now() + time;
    deadline = deadline ? std::min(*deadline, limit) : limit;
  }

  void reap() {
    for (size_t i = 0; i < children.size(); ++i) {
      int status;
      if (children[i].ended || waitpid(children[i].pid, &status, WNOHANG) != children[i].pid)
        continue;
      children[i].ended = true;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        continue;
      if (WIFSIGNALED(status))
        say(fmt::format("{} was killed by signal {} ({})", nameOf(i), WTERMSIG(status),
                        strsignal(WTERMSIG(status))));
      else if (WEXITSTATUS(status) != rankFailed)
        say(fmt::format("{} ended with status {}", nameOf(i), WEXITSTATUS(status)));
      fail();
    }
  }

  void giveUp() {
    for (size_t i = 0; i < children.size(); ++i)
      if (!children[i].ended)
        say(fmt::format("{} did not end by itself and is killed", nameOf(i)));
    fail();
    killAll();
  }

  void fail() {
    end.failed = true;
    board.fail();
    endWithin(graceAfterFailure);
  }

  std::string nameOf(size_t child) const {
    int first = static_cast<int>(child) * job.ranksPerProcess;
    int last = std::min(first + job.ranksPerProcess, job.ranks) - 1;
    std::string ranks = first == last ? fmt::format("rank {}", first)
                        : children.size() == 1
                            ? "the process of all ranks"
                            : fmt::format("the process of ranks {} to {}", first, last);
    return fmt::format("{} (pid {})", ranks, children[child].pid);
  }

  void killAll() {
    for (Child &child : children)
      if (!child.ended)
        kill(child.pid, SIGKILL);
    for (Child &child : children)
      if (!child.ended) {
        while (waitpid(child.pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        child.ended = true;
      }
  }

  const Job &job;
  Board &board;
  Report &report;
  SignalWatch signals;
  std::vector<Child> children;
  size_t rowsTaken = 0;
  std::optional<Clock::time_point> deadline;
  RunEnd end;
};

} // namespace

Result<RunEnd> runRanks(const Job &job, Report &report) {
  COIL_ASSIGN_OR_RETURN(std::unique_ptr<Board> board, Board::create(job.ranks, job.rows.size()));
  Supervisor supervisor(job, *board, report);
  return supervisor.run();
}

} // namespace coil::run
