"""Run it: `nimbill`, or `python -m nimbill`."""

from nimbill.cli import main

if __name__ == "__main__":
    main()
