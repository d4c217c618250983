"""Owns: how fast each speed is, as the setting SPEEDS says. Called by: hosts, control, the commands."""

from clearinghouse import env


def read_speeds(text: str) -> dict[str, tuple[float, int]]:
    """name:pause:connections, comma-separated -> {name: (seconds between two requests, connections)} of each site."""
    try:
        rows = [row.strip().split(":") for row in text.split(",")]
        speeds = {name: (float(pause), int(connections)) for name, pause, connections in rows}
    except ValueError:
        speeds = {}
    if speeds.keys() != {"polite", "medium", "fast"} or any(p < 0 or c < 1 for p, c in speeds.values()):
        raise SystemExit(
            f"{env.PREFIX}SPEEDS must give polite, medium and fast a pause in seconds and a number of connections, "
            f"like polite:1:1,medium:0.2:2,fast:0:16; it is {text!r}"
        )
    return speeds


SPEEDS = read_speeds(env.text("SPEEDS"))
