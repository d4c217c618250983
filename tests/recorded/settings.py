"""Owns: the environment variables of the product: name, default, meaning, shape."""

from typing import Any


def record(before: dict[str, Any]) -> dict[str, Any]:
    from clearinghouse import env

    told = {
        env.PREFIX + one.name: {"default": one.default, "meaning": one.meaning, "shape": one.shape}
        for one in env.SETTINGS
    }
    return {"settings.json": told}
