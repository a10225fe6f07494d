"""Engines that compute sums over cost lines."""
