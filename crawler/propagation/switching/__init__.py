"""Owns: what readers see: the switch, roll back, the way home, load balancers. Called by: step_work, services, tick."""
