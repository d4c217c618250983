"""Owns: writing a plain PDF with text that can be read back. Called by: site.

Only what three documents of the demo site need: one font, paragraphs, pages.
"""

import textwrap

LINES_PER_PAGE = 46
WIDTH = 88


def pdf(title: str, paragraphs: list[str]) -> bytes:
    lines = [title, ""]
    for paragraph in paragraphs:
        lines += [*textwrap.wrap(paragraph, WIDTH), ""]
    sheets = [lines[start : start + LINES_PER_PAGE] for start in range(0, len(lines), LINES_PER_PAGE)]
    first_sheet = 5  # objects 1-4: catalogue, list of pages, font, title
    kids = " ".join(f"{first_sheet + 2 * number} 0 R" for number in range(len(sheets)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(sheets)} /Kids [{kids}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        f"<< /Title ({_text(title)}) /Author (Northfield Institute) >>",
    ]
    for number, sheet in enumerate(sheets):
        drawing = _drawing(sheet)
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {first_sheet + 2 * number + 1} 0 R >>"
        )
        objects.append(f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream")
    return _file(objects)


def _drawing(lines: list[str]) -> str:
    shown = "\n".join(f"({_text(line)}) Tj T*" for line in lines)
    return f"BT /F1 11 Tf 15 TL 60 780 Td\n{shown}\nET"


def _text(line: str) -> str:
    return line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _file(objects: list[str]) -> bytes:
    out = bytearray(b"%PDF-1.4\n")
    places = []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{content}\nendobj\n".encode("cp1252")
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)
