"""Small documents of the formats that are not PDF."""

import io
import zipfile

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(17) + b"\x00\x00\x00\x00IEND\xaeB`\x82"
WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(body: str, *, head: str = "", **other_parts: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "word/document.xml", f"<?xml version='1.0'?>{head}<w:document {WORD}><w:body>{body}</w:body></w:document>"
        )
        for name, content in other_parts.items():
            archive.writestr(f"word/{name}.xml", f"<w:x {WORD}>{content}</w:x>")
    return packed.getvalue()


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"
