"""How often Python looks for unused objects that refer to each other.

By default it does so for every 700 new objects, also while modules are imported, which creates
many objects and no garbage.
"""

import gc

NEW_OBJECTS = 50_000


def pause_while_importing() -> None:
    gc.disable()


def keep_what_is_imported() -> None:
    """Look for garbage again, but rarely, and never among what was imported.

    Processes that are forked from this one share the memory of what was imported.
    """
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, 20, 100)
    gc.enable()
