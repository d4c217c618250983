"""What people teach the public search, and what it was asked for. All of it lives in WebCrawl."""

from .rules import SearchRule
from .usage import SearchUse

__all__ = ["SearchRule", "SearchUse"]
