/* What the ranks of tests/e2e/agent-mpi.suite run: says where it is, agrees with all others, and then does what it is told.
   usage: mpi_program [say NAME… | exit RANK CODE | signal RANK NUMBER | hang] */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, size, sum;
  char host[256] = "", directory[256] = "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host - 1);
  if (getcwd(directory, sizeof directory) == NULL) return 90;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("rank %d of %d on %s in %s: sum %d\n", rank, size, host, directory, sum);
  for (int i = 2; i < argc && strcmp(argv[1], "say") == 0; ++i) {
    const char* value = getenv(argv[i]);
    printf("rank %d has %s=%s\n", rank, argv[i], value == NULL ? "(none)" : value);
  }
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (argc == 4 && strcmp(argv[1], "signal") == 0 && rank == atoi(argv[2])) raise(atoi(argv[3]));
  if (argc == 2 && strcmp(argv[1], "hang") == 0) {
    if (rank == 0) printf("all are here\n");
    fflush(stdout);
    for (;;) pause();
  }
  if (argc == 4 && strcmp(argv[1], "exit") == 0 && rank == atoi(argv[2])) exit(atoi(argv[3]));
  MPI_Finalize();
  return 0;
}
