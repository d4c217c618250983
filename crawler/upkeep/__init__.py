"""Owns: what must happen though nobody asks: the tick; and backup, restore, pruning, doctor, metrics, key rotation."""
