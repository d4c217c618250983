"""The sample queries of the check: five pages by words of their own, and never a reason to hold a good index back."""

import pytest

from clearinghouse.published.models import PublishedVersion
from clearinghouse.search import backends
from crawler.propagation.loading import verify
from crawler.propagation.step_failures import Differs

from .world import World, add_document, propagate

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


def test_words_are_those_every_server_reads_alike():
    assert verify._words_to_ask("Falls, infections and (other) x-rays of 2026.") == ("falls", "infections", "and")
    assert verify._words_to_ask("a\ufffeb 12 \u202eabc, don't") == ()
    assert verify._words_to_ask("x" * 20_000) == ()
    assert verify._words_to_ask("качество помощи") == ("качество", "помощи")


@pytest.mark.parametrize(
    "text",
    [
        "x" * 20_000,
        "abi\u00ad1\u0345i \u1e9e\u0130",
        "\U0001f600 \u200b \u202e",
        "東京都の品質",
        "",
        "ﬁnd ½ ①",
        "don’t can't o_o",
    ],
)
def test_no_odd_text_holds_a_generation_back(text):
    World().run(add_document(), {"": text, **{f"{n}.html": text + "\u0301" for n in range(4)}})
    PublishedVersion.objects.using("primary").update(title="")
    assert propagate().error == ""


def test_an_index_that_does_not_answer_for_its_texts_is_not_shown():
    World().run(add_document(), {f"{n}.html": f"text number {n}" for n in range(9)})
    row = propagate()
    assert row.steps.get(name="verify", target="primary").counts["queries"] == 5
    page = PublishedVersion.objects.using("primary").order_by("id").first()
    backends.backend("primary").remove([page.id])
    PublishedVersion.objects.using("primary").filter(id=page.id).update(title="Entirely different words", text="")
    backends.backend("primary").add([page.id])
    PublishedVersion.objects.using("primary").filter(id=page.id).update(title="Original heading")
    with pytest.raises(Differs, match="original heading” does not find the page it was taken from"):
        verify.sample_queries("primary", row.pk)
