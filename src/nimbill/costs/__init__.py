"""What the vendors charged: cost lines, the lake they lie in, and the sums worked out from them."""
