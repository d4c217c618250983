"""The site: what crawlpoints and crawler share, and the wiring of all.

Every other package may import from here; nothing here imports crawlpoints or crawler,
except the URL configuration and the settings, which name them.
"""

__version__ = "0.3.0"
