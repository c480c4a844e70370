"""A file of which only so much can be read, however much it unpacks to."""

import os
from io import BufferedIOBase


class TooMuchError(Exception):
    """More was asked of a file than it may hold."""


class BoundedBytes:
    """The first `most` bytes of a file, in pieces that memory has room for.

    What lies beyond is neither read nor skipped: an archive of a megabyte may
    unpack to gigabytes, all of them in the header of its first member.
    """

    largest_piece = 1 << 24

    def __init__(self, file: BufferedIOBase, most: int) -> None:
        self.file = file
        self.most = most

    def read(self, size: int) -> bytes:
        if not 0 <= size <= self.largest_piece or self.file.tell() + size > self.most:
            raise TooMuchError
        return self.file.read(size)

    def tell(self) -> int:
        return self.file.tell()

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        if whence != os.SEEK_SET or not 0 <= position <= self.most:
            raise TooMuchError
        return self.file.seek(position)
