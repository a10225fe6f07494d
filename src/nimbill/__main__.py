"""Run it: `nimbill`, or `python -m nimbill`."""

from nimbill.commands.command_line import main

if __name__ == "__main__":
    main()
