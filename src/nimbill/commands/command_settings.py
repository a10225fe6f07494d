"""Loads the settings of a command and warns about variables that are none."""

import os
from collections.abc import Iterable

from nimbill.application.installed import list_unknown_settings, load_settings
from nimbill.commands.console import print_warning
from nimbill.foundation.settings import Settings


def load_command_settings() -> Settings:
    warn_about_settings(list_unknown_settings(os.environ))
    return load_settings(os.environ)


def warn_about_settings(sentences: Iterable[str]) -> None:
    for sentence in sentences:
        print_warning(sentence)
