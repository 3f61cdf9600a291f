"""`python -m clearbands` is the command `clearbands`."""

from clearbands.apps.cli import main

if __name__ == "__main__":
    main()
