"""Archives made in memory, honest or hostile."""

import io
import tarfile
import zipfile

CSV = b"user_id,video_id\n1,2\n" * 5000


def tar_bytes(*members: tarfile.TarInfo, content: bytes = CSV) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as bundle:
        for member in members:
            member.size = len(content) if member.isreg() else 0
            bundle.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return packed.getvalue()


def zip_bytes(name: str, content: bytes = CSV, mode: int = 0) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as bundle:
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode << 16
        bundle.writestr(entry, content)
    return packed.getvalue()
