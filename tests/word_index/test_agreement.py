"""Word -> pages and page -> words agree with each other and with a count by hand, whatever the texts are."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.accounts.routes import undone
from tests.word_index.agreement import WORDS, check

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

# Latin with its accents, and Chinese: letters every server's index reads as we do.
LETTERS = st.one_of(
    st.sampled_from("abcxyzABCXYZ0189éèêëÉÀàâçÇñÑöÖüÜåÅšŠžŽńąęŐő"),
    st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5),
)
TEXTS = st.lists(
    st.one_of(st.sampled_from(WORDS), st.text(LETTERS, min_size=1, max_size=6), st.sampled_from([".", "…", "—", "'"])),
    max_size=30,
).map(" ".join)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), database=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=6))
def test_both_directions_agree_with_each_other_and_with_a_count_by_hand(texts):
    with undone():
        check(texts)
