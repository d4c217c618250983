"""CSV answers of these screens; see clearinghouse/web/csv_output.py."""

from clearinghouse.web.csv_output import csv_answer, safe_cell

__all__ = ["csv_answer", "safe_cell"]
