"""CSV answers of these screens; see clearinghouse/spreadsheet.py."""

from clearinghouse.spreadsheet import csv_answer, safe_cell

__all__ = ["csv_answer", "safe_cell"]
