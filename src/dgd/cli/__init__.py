"""The shell: parse, call, print."""

import sys


def main() -> None:
    """The `dgd` command; its parts are loaded here, so that Ctrl-C is heard while they are."""
    try:
        from dgd.cli.app import app

        app()
    except KeyboardInterrupt:
        sys.stderr.write("dgd: interrupted; every file is whole or was not written.\n")
        sys.exit(130)
