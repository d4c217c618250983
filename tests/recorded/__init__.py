"""What people and other programs can observe of the product, written down before modules move and are renamed.

`python -m tests.recorded` takes the record of the present state and says what differs from tests/recorded/before/.
`python -m tests.recorded --write` writes that folder; names of parts after it take only these, `--short` what the suite
takes. What was asked (addresses, bodies) is kept beside what was answered, so a comparison asks the same again,
whatever modules and routes are called by then.
"""
