"""A number for every label that depends on nothing but the label."""

import hashlib


def hash_bucket(identifier: str | int, buckets: int = 64) -> int:
    """The bucket of one identifier.

    It is the SHA-256 of the identifier as text (integers in decimal), first eight bytes
    big-endian, modulo `buckets`.

    Args:
        identifier: Text or a whole number.
        buckets: How many buckets there are.

    Returns:
        A number from 0 to `buckets` - 1.
    """
    digest = hashlib.sha256(str(identifier).encode()).digest()
    return int.from_bytes(digest[:8], "big") % buckets
