"""The types of pages the crawler stores: the rows of crawl_page_type, and what to hand to the indexing service."""

PAGE_TYPES = {
    1: "HTML", 2: "PDF", 3: "Word (DOCX)", 4: "Excel (XLSX)", 5: "PowerPoint (PPTX)", 6: "OpenDocument text",
    7: "RTF", 8: "Plain text", 9: "XML", 10: "CSV", 11: "XHTML",
}  # fmt: skip
HTML, PDF, DOCX, XLSX, PPTX, ODT, RTF, TEXT, XML, CSV, XHTML = PAGE_TYPES
EXTENSIONS = {
    HTML: ".htm", PDF: ".pdf", DOCX: ".docx", XLSX: ".xlsx", PPTX: ".pptx", ODT: ".odt",
    RTF: ".rtf", TEXT: ".txt", XML: ".xml", CSV: ".csv", XHTML: ".htm",
}  # fmt: skip
