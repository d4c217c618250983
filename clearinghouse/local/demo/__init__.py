"""Owns: the demo site, a small web site about the quality of health care, with the faults real sites have.

Does not: know the product; it is a site like any other. Called by: the Procfile (python -m clearinghouse.local.demo).

The texts stand in measures.toml, guidelines.toml and pages.toml; markup.py turns them into HTML, site.py lays out
the addresses, server.py answers. Everything here is invented.
"""

# The members' area asks for these: an invented member of an invented institute, shown by load_demo.
MEMBER = ("member", "evidence-first")
