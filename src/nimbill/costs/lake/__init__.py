"""The lake: Parquet files of cost lines, the engines that sum them, and the stored sums."""
