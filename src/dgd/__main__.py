"""`python -m dgd` is `dgd`."""

from dgd.cli import main

if __name__ == "__main__":
    main()
