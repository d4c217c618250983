"""The types of pages the crawler stores: the rows of crawl_page_type, and what to hand to the indexing service."""

PAGE_TYPES = {
    1: "HTML", 2: "PDF", 3: "Word (DOCX)", 4: "Excel (XLSX)", 5: "PowerPoint (PPTX)", 6: "OpenDocument text",
    7: "RTF", 8: "Plain text", 9: "XML", 10: "CSV", 11: "XHTML",
    12: "OpenDocument spreadsheet", 13: "OpenDocument presentation",
}  # fmt: skip
HTML, PDF, DOCX, XLSX, PPTX, ODT, RTF, TEXT, XML, CSV, XHTML, ODS, ODP = PAGE_TYPES
EXTENSIONS = {
    HTML: ".htm", PDF: ".pdf", DOCX: ".docx", XLSX: ".xlsx", PPTX: ".pptx", ODT: ".odt",
    RTF: ".rtf", TEXT: ".txt", XML: ".xml", CSV: ".csv", XHTML: ".htm",
    ODS: ".ods", ODP: ".odp",
}  # fmt: skip
