/*===- consumer.c - A user's program against an installed Coil ---*- C -*-===*\
|*
|* consumer PLAN RANKS: starts RANKS processes that sum their numbers with the
|* plan, and checks what every rank got.
|*
\*===----------------------------------------------------------------------===*/

#include <coil/coil.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { count = 1000 };

static int check(coilResult_t result, const char *call, coilComm_t comm) {
  if (result == coilSuccess)
    return 1;
  fprintf(stderr, "%s: %s: %s\n", call, coilGetErrorString(result), coilGetLastError(comm));
  return 0;
}

static int runRank(const char *plan, int ranks, coilUniqueId id, int rank) {
  coilComm_t comm = NULL;
  float values[count];
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    values[i] = (float)(rank + i);
  if (!check(coilCommInitRank(&comm, ranks, id, rank), "coilCommInitRank", NULL))
    return 1;
  if (!check(coilCommLoadPlanFile(comm, plan), "coilCommLoadPlanFile", comm) ||
      !check(coilAllReduce(values, values, count, coilFloat32, coilSum, comm, NULL),
             "coilAllReduce", comm))
    return 1;
  for (int i = 0; i < count; ++i)
    wrong += values[i] != (float)(ranks * i + ranks * (ranks - 1) / 2);
  if (wrong)
    fprintf(stderr, "rank %d: %d of %d elements are wrong\n", rank, wrong, (int)count);
  return !check(coilCommDestroy(comm), "coilCommDestroy", NULL) || wrong;
}

int main(int argc, char **argv) {
  coilUniqueId id;
  int ranks, failed = 0, status;
  if (argc != 3 || (ranks = atoi(argv[2])) < 1) {
    fprintf(stderr, "usage: consumer PLAN RANKS\n");
    return 2;
  }
  if (!check(coilGetUniqueId(&id), "coilGetUniqueId", NULL))
    return 1;
  for (int rank = 0; rank < ranks; ++rank)
    if (fork() == 0)
      return runRank(argv[1], ranks, id, rank);
  while (wait(&status) > 0)
    failed += status != 0;
  if (!failed)
    printf("%d ranks agree\n", ranks);
  return failed != 0;
}
