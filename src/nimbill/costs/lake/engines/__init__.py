"""The engines that sums can be worked out on."""
