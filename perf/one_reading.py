"""One measured reading of PDFs: `apart`, in processes of their own as a user's are, or `here`, in this one."""

from __future__ import annotations

import sys
from pathlib import Path

from batchwork.documents import DEFAULT_LIMITS, read_document


def main(way: str, folder: Path) -> int:
    """How many characters the PDFs of a folder have."""
    if way == "apart":
        return sum(len(read_document(path).text) for path in sorted(folder.iterdir()))
    from batchwork.documents.child_loop import extract

    return sum(len(extract("pdf", path.read_bytes(), DEFAULT_LIMITS)[0]) for path in sorted(folder.iterdir()))


if __name__ == "__main__":
    print(main(sys.argv[1], Path(sys.argv[2])))
