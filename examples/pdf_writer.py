"""Write small PDFs: text at a place, lines, the standard fonts. Deterministic, no dependency.

Enough for example invoices and for test documents; what it writes is what readers find in the wild: one text
operation per cell, no spaces between cells, no structure but the coordinates.
"""

import re
import zlib

# Advance widths of Helvetica in thousandths of the font size, for the characters from space to tilde.
_WIDTHS = [
    int(width)
    for width in re.findall(
        r"\d+",
        "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 "
        "556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 "
        "722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 "
        "500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584 ",
    )
]
_FONTS = ("Helvetica", "Helvetica-Bold", "Courier")
PLAIN, BOLD, MONO = range(3)


def text_width(text: str, size: float, font: int = PLAIN) -> float:
    """How wide the text will be, in points."""
    if font == MONO:
        return 0.6 * size * len(text)
    units = sum(_WIDTHS[ord(char) - 32] if 32 <= ord(char) < 127 else 556 for char in text)
    return units * size / 1000 * (1.06 if font == BOLD else 1.0)


class Page:
    """One page of 595 x 842 points; y counts down from the top, as one writes."""

    def __init__(self, width: float = 595, height: float = 842) -> None:
        self.width, self.height = width, height
        self._operations: list[str] = []

    def text(self, x: float, y: float, text: str, *, size: float = 10, font: int = PLAIN, right: bool = False) -> None:
        """Put one line of text; with `right`, x is where it ends."""
        if right:
            x -= text_width(text, size, font)
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        self._operations.append(f"BT /F{font} {size:g} Tf {x:.2f} {self.height - y:.2f} Td ({escaped}) Tj ET")

    def rule(self, x0: float, y0: float, x1: float, y1: float, thickness: float = 0.5) -> None:
        """Draw a straight line."""
        ends = f"{x0:.2f} {self.height - y0:.2f} m {x1:.2f} {self.height - y1:.2f} l S"
        self._operations.append(f"{thickness:g} w {ends}")

    def content(self) -> bytes:
        """The page's drawing operations as PDF bytes."""
        return "\n".join(self._operations).encode("cp1252", errors="replace")


def pdf_bytes(pages: list[Page], title: str = "") -> bytes:
    """The whole file."""
    kids = " ".join(f"{6 + 2 * index} 0 R" for index in range(len(pages)))
    fonts = " ".join(f"/F{index} {3 + index} 0 R" for index in range(len(_FONTS)))
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode(),
    ]
    objects += [
        f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>".encode() for name in _FONTS
    ]
    for index, page in enumerate(pages):
        stream = zlib.compress(page.content(), 6)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {page.width:g} {page.height:g}]"
            f" /Resources << /Font << {fonts} >> >> /Contents {7 + 2 * index} 0 R >>".encode()
        )
        objects.append(f"<< /Length {len(stream)} /Filter /FlateDecode >>\nstream\n".encode() + stream + b"\nendstream")
    plain_title = title.encode("ascii", errors="replace").decode().replace("(", "").replace(")", "")
    objects.append(f"<< /Title ({plain_title}) >>".encode())
    return _assemble(objects)


def _assemble(objects: list[bytes]) -> bytes:
    body = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    offsets = []
    for number, content in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table_at = len(body)
    body += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    for offset in offsets:
        body += f"{offset:010d} 00000 n \n".encode()
    body += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>\n".encode()
    body += f"startxref\n{table_at}\n%%EOF\n".encode()
    return bytes(body)
