"""The reports, one module each, in one frame: filters in the address, a CSV of the same rows, charts with a table."""
