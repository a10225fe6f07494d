"""Nicknames for stacks that were given none: two words that are easy to say."""

import secrets

from nimbill.foundation.basis import chosen

basis = chosen("stack-nicknames")

HOW = (
    "amber", "brave", "bright", "calm", "clear", "cool", "crisp", "early", "even", "fair",
    "fine", "fleet", "fresh", "gentle", "glad", "golden", "grand", "green", "keen", "kind",
    "late", "light", "lively", "merry", "mild", "neat", "noble", "open", "plain", "proud",
    "quick", "quiet", "rapid", "ready", "sharp", "silver", "smooth", "snowy", "steady", "still",
    "sunny", "swift", "tidy", "vivid", "warm", "white", "wide", "wise",
)  # fmt: skip
WHAT = (
    "alder", "badger", "beech", "birch", "brook", "cedar", "cliff", "cloud", "coast", "crane",
    "delta", "dune", "eagle", "elm", "falcon", "fern", "field", "finch", "fjord", "forest",
    "fox", "garden", "glade", "grove", "harbor", "hare", "heron", "hill", "island", "lake",
    "lark", "lynx", "maple", "marsh", "meadow", "mesa", "otter", "owl", "pine", "plover",
    "pond", "reef", "ridge", "river", "robin", "shore", "spruce", "stream", "swan", "thrush",
    "valley", "willow",
)  # fmt: skip


def two_words() -> str:
    """Not unique and not meant to be: the stack_id is."""
    return f"{secrets.choice(HOW)}-{secrets.choice(WHAT)}"
