"""Office documents in the shape of real ones, written part by part: only what stands in them says what they are."""

import io
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

OPEN_XML = "http://schemas.openxmlformats.org/"
STRICT = "http://purl.oclc.org/ooxml/"
W = f"{OPEN_XML}wordprocessingml/2006/main"
S = f"{OPEN_XML}spreadsheetml/2006/main"
P = f"{OPEN_XML}presentationml/2006/main"
A = f"{OPEN_XML}drawingml/2006/main"
R = f"{OPEN_XML}officeDocument/2006/relationships"
MC = f"{OPEN_XML}markup-compatibility/2006"
WPS = "http://schemas.microsoft.com/office/word/2010/wordprocessingShape"
SPACES = f'xmlns:w="{W}" xmlns:a="{A}" xmlns:r="{R}" xmlns:p="{P}" xmlns:mc="{MC}" xmlns:wps="{WPS}"'
OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
ODF_SPACES = " ".join(
    f'xmlns:{name}="{OASIS}{full}:1.0"'
    for name, full in (
        ("office", "office"), ("text", "text"), ("table", "table"), ("style", "style"), ("draw", "drawing"),
        ("presentation", "presentation"),
    )
) + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'  # fmt: skip

Related = tuple[str, str, str]  # identifier, the last word of its type, target (an address where it has a scheme)


def zipped(parts: dict[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return stream.getvalue()


@contextmanager
def opened(body: bytes) -> Iterator[dict[str, str]]:
    """The parts of a document as text, to be changed."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        yield {name: archive.read(name).decode() for name in archive.namelist()}


def relationships(related: Iterable[Related], base: str = R) -> str:
    rows = "".join(
        f'<Relationship Id="{one}" Type="{base}/{kind}" Target="{target}"'
        f"{' TargetMode=' + chr(34) + 'External' + chr(34) if ':' in target else ''}/>"
        for one, kind, target in related
    )
    return f'<Relationships xmlns="{OPEN_XML}package/2006/relationships">{rows}</Relationships>'


def package(main: str, parts: dict[str, str | bytes], related: dict[str, list[Related]] | None = None) -> bytes:
    """A package whose main part is `main`; `related`: part -> what it is related to."""
    start: list[Related] = [("rId1", "officeDocument", main), ("rId2", "core-properties", "docProps/core.xml")]
    written: dict[str, str | bytes] = {"_rels/.rels": relationships(start)}
    for part, rows in (related or {}).items():
        folder, _, name = part.rpartition("/")
        written[f"{folder}/_rels/{name}.rels"] = relationships(rows)
    return zipped(written | parts)


def word(body: str, related: list[Related] | None = None, title: str = "", **parts: str) -> bytes:
    """A text document; `parts`: name -> XML of further parts in its folder."""
    further: dict[str, str | bytes] = {f"word/{name}.xml": text for name, text in parts.items()}
    core = f'<c xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></c>'
    further["docProps/core.xml"] = core
    document = f"<w:document {SPACES}><w:body>{body}</w:body></w:document>"
    return package("word/document.xml", {"word/document.xml": document} | further, {"word/document.xml": related or []})


def sheets(
    cells: dict[str, str],
    shared: Iterable[str] = (),
    styles: str = "",
    links: list[Related] | None = None,
    parts: dict[str, str] | None = None,
) -> bytes:
    """A workbook; `cells`: name of a sheet (" (hidden)" after it makes it so) -> XML of its rows and what follows."""
    rows, written, related = "", {}, []
    for number, (name, text) in enumerate(cells.items(), start=1):
        state = ' state="hidden"' if name.endswith(" (hidden)") else ""
        rows += f'<sheet name="{name.removesuffix(" (hidden)")}" sheetId="{number}"{state} r:id="rId{number}"/>'
        written[f"xl/worksheets/s{number}.xml"] = f'<worksheet xmlns="{S}" xmlns:r="{R}">{text}</worksheet>'
        related.append((f"rId{number}", "worksheet", f"worksheets/s{number}.xml"))
    strings = "".join(f"<si>{text}</si>" for text in shared)
    written |= {
        "xl/workbook.xml": f'<workbook xmlns="{S}" xmlns:r="{R}"><sheets>{rows}</sheets></workbook>',
        "xl/strings.xml": f'<sst xmlns="{S}">{strings}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{S}">{styles}</styleSheet>',
    }
    written |= parts or {}
    related += [("rId98", "sharedStrings", "strings.xml"), ("rId99", "styles", "/xl/styles.xml")]
    return package("xl/workbook.xml", dict(written), {"xl/workbook.xml": related, "xl/worksheets/s1.xml": links or []})


def slides(shown: list[str], related: dict[str, list[Related]] | None = None, **parts: str) -> bytes:
    """A presentation; `shown`: XML of the paragraphs of each slide, in the order of the show."""
    further: dict[str, str | bytes] = {f"ppt/{name}.xml": text for name, text in parts.items()}
    rows = "".join(f'<p:sldId id="{256 + number}" r:id="rId{number}"/>' for number in range(len(shown)))
    further["ppt/presentation.xml"] = f"<p:presentation {SPACES}><p:sldIdLst>{rows}</p:sldIdLst></p:presentation>"
    targets: list[Related] = []
    for number, text in enumerate(shown):  # the names of slides do not follow their order
        name = f"slides/slide{len(shown) - number}.xml"
        further.setdefault(f"ppt/{name}", f"<p:sld {SPACES}><p:cSld><p:spTree>{text}</p:spTree></p:cSld></p:sld>")
        targets.append((f"rId{number}", "slide", name))
    return package("ppt/presentation.xml", further, {"ppt/presentation.xml": targets} | (related or {}))


def open_document(body: str, kind: str = "text", styles: str = "", **parts: str) -> bytes:
    """An OpenDocument; `styles` are its automatic ones, `parts` further ones (styles, meta)."""
    content = (
        f"<office:document-content {ODF_SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    further: dict[str, str | bytes] = {f"{name}.xml": text for name, text in parts.items()}
    return zipped({"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content} | further)
