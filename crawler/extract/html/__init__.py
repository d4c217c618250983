"""Owns: HTML: title, text, headings, links, from three readers for pages of any length and depth. Pure."""
