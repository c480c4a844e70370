"""The paper's tables, one file each, computed here and set beside its figures."""

from dgd.paper.tables import TABLES, reproduce

__all__ = ["TABLES", "reproduce"]
