"""The shell: parse, call, print."""

from dgd.cli.app import main

__all__ = ["main"]
