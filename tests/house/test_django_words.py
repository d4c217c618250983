"""What Django says to people stands in our words, all of it in one file: clearinghouse/locale/en."""

import gettext
import re
from pathlib import Path

import django
from django import forms
from django.contrib.auth.password_validation import password_validators_help_texts
from django.utils.translation import gettext as said

from tests.house.tree import BASE

OURS = BASE / "clearinghouse/locale/en/LC_MESSAGES/django"
# Where Django's own words come from that somebody who fills in a form can meet.
_MET = re.compile(
    r"core/validators|db/models/(?:base|constraints|fields/)|forms/(?!widgets)|utils/ipv6"
    r"|contrib/auth/(?:forms|models|password_validation|validators)|contrib/admin/forms"
)
# Pages of Django that are not served here: its own list of people, with its permissions and kinds of passwords.
_NOT_SERVED = re.compile(
    r"permission|esignates|using a password|aw passwords|password-based|ssword format|password set"
)
_ENTRY = re.compile(r'^msgid ((?:".*"\n)+)(?:msgid_plural ((?:".*"\n)+))?((?:msgstr.*\n(?:".*"\n?)*)+)', re.M)


def written(text: str) -> str:
    lines = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    return "".join(lines).replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def entries(path: Path) -> dict[str, list[str]]:
    """msgid: what stands for it, one text or one for each number."""
    found = {}
    for block in path.read_text().split("\n\n"):
        for one, _, words in _ENTRY.findall(block + "\n"):
            if written(one):
                found[written(one)] = [
                    written(part) for part in re.split(r"^msgstr(?:\[\d\])? ", words, flags=re.M)[1:]
                ]
    return found


def of_django() -> set[str]:
    found = set()
    for place in ("conf", "contrib/auth", "contrib/admin"):
        path = Path(django.__file__).parent / place / "locale/en/LC_MESSAGES/django.po"
        for block in path.read_text().split("\n\n"):
            if _MET.search(" ".join(re.findall(r"^#: (.*)$", block, re.M))):
                found |= {written(one) for one, _, _ in _ENTRY.findall(block + "\n")}
    return {text for text in found if text.endswith(".") and not _NOT_SERVED.search(text)}


def test_every_sentence_of_django_that_people_meet_has_our_words():
    theirs, ours = of_django(), entries(OURS.with_suffix(".po"))
    assert len(theirs) > 80 and theirs - set(ours) == set()
    for text, words in ours.items():
        assert all(words) and text not in words, text
        assert {*re.findall(r"%\(\w+\)|\{\w+\}", "".join(words))} <= {*re.findall(r"%\(\w+\)|\{\w+\}", text)}, text


def test_what_is_compiled_is_what_is_written():
    with OURS.with_suffix(".mo").open("rb") as file:
        catalog = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
    compiled: dict[str, list[str]] = {}
    for key, text in sorted(catalog.items(), key=lambda item: str(item[0])):
        if key:
            compiled.setdefault(key[0] if isinstance(key, tuple) else key, []).append(text)
    assert compiled == entries(OURS.with_suffix(".po")), "run: django-admin compilemessages -l en"


def test_forms_and_passwords_speak_our_words():
    class Form(forms.Form):
        empty = forms.CharField()
        short = forms.CharField(max_length=1)
        number = forms.IntegerField(max_value=3)
        mail = forms.EmailField()
        choice = forms.ChoiceField(choices=[("a", "A")])
        long = forms.DurationField()

    form = Form({"short": "ab", "number": "4", "mail": "m", "choice": "b", "long": "soon"})
    assert [message for messages in form.errors.values() for message in messages] == [
        "Fill this in", "Enter at most 1 character. There are 2", "Enter 3 or less",
        "This is not a mail address, like name@example.org", "“b” is not in the list. Choose again",
        "Enter a duration, like 02:30:00",
    ]  # fmt: skip
    assert "It needs 10 characters or more." in password_validators_help_texts()
    assert said("Yes") == "Yes"
