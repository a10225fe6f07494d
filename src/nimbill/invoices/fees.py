"""The kinds of fee."""
