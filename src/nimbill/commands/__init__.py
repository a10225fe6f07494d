"""The command line: one file per command, and command_line.py, which puts them together."""
