"""Owns: the launch form, planned crawls and their calendar, quiet hours, crawl requests."""
