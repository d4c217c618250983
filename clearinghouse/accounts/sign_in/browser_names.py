"""Owns: a browser in plain words, from what it says of itself; pure. Called by: sign_in, which keeps the words."""

BROWSERS = (
    ("Edg", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"), ("Safari/", "Safari"),
)  # fmt: skip
SYSTEMS = (
    ("Windows", "Windows"), ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


def in_words(user_agent: str) -> str:
    """Firefox on Windows. The first that fits: nearly every browser also calls itself Safari."""
    browser = next((word for mark, word in BROWSERS if mark in user_agent), "")
    system = next((word for mark, word in SYSTEMS if mark in user_agent), "")
    if browser and system:
        return f"{browser} on {system}"
    return browser or (f"A program on {system}" if system else "A program that does not say its name")
