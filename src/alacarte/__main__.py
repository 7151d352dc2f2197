"""`python -m alacarte` is `alc`."""

from alacarte.cli import main

if __name__ == "__main__":
    main()
