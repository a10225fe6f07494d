"""How a process that converts cost files is told to keep the memory that it will need again."""

# What is given back is asked for again the next moment; kept for a while, it need not be cleared
# anew each time. Read when a process starts, by its allocators; and nothing there multiplies
# matrices on several threads.
KEPT_MEMORY = {
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20),
    "MIMALLOC_PURGE_DELAY": "1000",  # milliseconds
    "OPENBLAS_NUM_THREADS": "1",
}
