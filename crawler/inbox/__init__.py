"""Owns: what people are told: events, notices, mail, webhooks, the In Tray. Does not: send by itself (jobs)."""
