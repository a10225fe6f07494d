"""Makes new files and folders private to the user who runs the program."""

import os

OTHERS = 0o077


def make_files_private() -> None:
    """From here on this process and its children create folders with 0700 and files with 0600.

    The umask decides for all of them, also for those that libraries create, whatever mode they ask
    for and whatever umask the process was started with.
    """
    os.umask(OTHERS)
