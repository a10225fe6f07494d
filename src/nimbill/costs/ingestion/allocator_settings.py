"""Environment of a process that converts cost files: its allocators keep freed memory."""

# The process allocates again at once what it frees; memory that is kept need not be cleared again
# by the kernel. The allocators read these variables when the process starts. OpenBLAS would start
# threads that nothing uses.
ALLOCATOR_ENVIRONMENT = {
    "MALLOC_MMAP_THRESHOLD_": str(32 * 2**20),
    "MALLOC_TRIM_THRESHOLD_": str(256 * 2**20),
    "MIMALLOC_PURGE_DELAY": "1000",  # milliseconds
    "OPENBLAS_NUM_THREADS": "1",
}
