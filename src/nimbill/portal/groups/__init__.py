"""The pages of account groups: the groups themselves, and usage by group."""
