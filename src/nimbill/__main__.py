"""Run it: `nimbill`, or `python -m nimbill`."""

from nimbill.foundation.garbage_collection import pause_while_importing

pause_while_importing()

from nimbill.commands.command_line import main  # noqa: E402

if __name__ == "__main__":
    main()
