"""Owns: PDF, Office documents and RTF, read in a child process with bounded memory and time."""
