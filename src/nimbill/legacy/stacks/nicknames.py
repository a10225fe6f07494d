"""Random nicknames for stacks whose template has none."""

import secrets

# See docs/choices.md, stack-nicknames.

ADJECTIVES = (
    "amber", "brave", "bright", "calm", "clear", "cool", "crisp", "early", "even", "fair",
    "fine", "fleet", "fresh", "gentle", "glad", "golden", "grand", "green", "keen", "kind",
    "late", "light", "lively", "merry", "mild", "neat", "noble", "open", "plain", "proud",
    "quick", "quiet", "rapid", "ready", "sharp", "silver", "smooth", "snowy", "steady", "still",
    "sunny", "swift", "tidy", "vivid", "warm", "white", "wide", "wise",
)  # fmt: skip
NOUNS = (
    "alder", "badger", "beech", "birch", "brook", "cedar", "cliff", "cloud", "coast", "crane",
    "delta", "dune", "eagle", "elm", "falcon", "fern", "field", "finch", "fjord", "forest",
    "fox", "garden", "glade", "grove", "harbor", "hare", "heron", "hill", "island", "lake",
    "lark", "lynx", "maple", "marsh", "meadow", "mesa", "otter", "owl", "pine", "plover",
    "pond", "reef", "ridge", "river", "robin", "shore", "spruce", "stream", "swan", "thrush",
    "valley", "willow",
)  # fmt: skip


def generate_nickname() -> str:
    """An adjective and a noun; need not be unique."""
    return f"{secrets.choice(ADJECTIVES)}-{secrets.choice(NOUNS)}"
