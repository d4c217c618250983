"""Sealed passwords: what fits, what opens them, what no longer does."""

import base64
import secrets
from dataclasses import replace
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from clearinghouse.vault.sealing import (
    MAX_TEXT,
    Binding,
    CannotUnseal,
    binding_of,
    check_keys,
    is_sealed,
    seal,
    sealed_with_newest_key,
    unseal,
)
from tests.proves import proves

PASSWORD = "C4n4ry-päss"
BINDING = Binding("https://ex.gov", "https://ex.gov/measures/", 1)


def key(name: str) -> str:
    return f"{name}:{base64.b64encode(secrets.token_bytes(32)).decode()}"


def test_a_sealed_password_is_opened_by_the_same_binding() -> None:
    assert unseal(seal(PASSWORD, BINDING), BINDING) == PASSWORD


@given(st.text(min_size=1, max_size=50).filter(lambda text: text.isprintable()))
def test_every_password_of_50_characters_fits_the_column(plain: str) -> None:
    sealed = seal(plain, BINDING)
    assert len(sealed) <= MAX_TEXT
    assert unseal(sealed, BINDING) == plain


def test_the_longest_password_still_fits_the_column(settings: Any) -> None:
    settings.CREDENTIAL_KEYS = key("k" * 16)
    assert len(seal("x" * 320, BINDING)) <= MAX_TEXT
    with pytest.raises(ValueError, match="320 bytes") as error:
        seal("x" * 321, BINDING)
    assert "xxx" not in str(error.value)


def test_the_same_password_never_looks_the_same_twice() -> None:
    assert seal(PASSWORD, BINDING) != seal(PASSWORD, BINDING)


@pytest.mark.parametrize(
    "changed",
    [
        {"origin": "https://evil.example"},
        {"root": "https://ex.gov/"},
        {"auth_type": 2},
        {"sign_in_url": "https://ex.gov/login"},
    ],
)
def test_an_edited_row_cannot_be_unsealed(changed: dict[str, Any]) -> None:
    with pytest.raises(CannotUnseal, match="another site, root string"):
        unseal(seal(PASSWORD, BINDING), replace(BINDING, **changed))


def test_moving_a_separator_between_the_parts_changes_the_binding() -> None:
    sealed = seal(PASSWORD, Binding("https://a", "b,c", 1, "d"))
    with pytest.raises(CannotUnseal):
        unseal(sealed, Binding("https://a,b", "c", 1, "d"))


@pytest.mark.parametrize("damage", ["", "secret", "sealed:", "sealed:AAAA", "sealed:***", "sealed:AQNk"])
def test_what_was_never_sealed_is_refused_with_a_sentence(damage: str) -> None:
    assert not is_sealed(damage)
    with pytest.raises(CannotUnseal):
        unseal(damage, BINDING)


def test_one_changed_character_is_noticed() -> None:
    sealed = seal(PASSWORD, BINDING)
    middle = len(sealed) // 2
    changed = sealed[:middle] + ("A" if sealed[middle] != "A" else "B") + sealed[middle + 1 :]
    with pytest.raises(CannotUnseal):
        unseal(changed, BINDING)


@proves("G5")
def test_a_new_key_in_front_seals_and_the_old_one_still_opens(settings: Any) -> None:
    old, new = key("old"), key("new")
    settings.CREDENTIAL_KEYS = old
    sealed = seal(PASSWORD, BINDING)
    settings.CREDENTIAL_KEYS = f"{new}, {old}"
    assert unseal(sealed, BINDING) == PASSWORD
    assert not sealed_with_newest_key(sealed)
    assert sealed_with_newest_key(seal(PASSWORD, BINDING))
    settings.CREDENTIAL_KEYS = new
    with pytest.raises(CannotUnseal, match="'old'"):
        unseal(sealed, BINDING)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "at least one"),
        (" , ", "at least one"),
        ("nonsense", "entry 1 must be id:base64"),
        ("a b:QUJD", "entry 1 must be id:base64"),
        ("one:not base64!", "one: is not base64"),
        ("one:QUJD", "one has 3 bytes instead of 32"),
        ("one:" + "A" * 43 + "=,one:" + "A" * 43 + "=", "appears twice"),
    ],
)
def test_unreadable_keys_are_refused_with_a_clear_sentence(settings: Any, text: str, sentence: str) -> None:
    settings.CREDENTIAL_KEYS = text
    with pytest.raises(ImproperlyConfigured, match=sentence):
        check_keys()


@proves("I11")
def test_neither_cipher_nor_errors_nor_repr_show_the_password() -> None:
    sealed = seal(PASSWORD, BINDING)
    shown = sealed + repr(BINDING) + str(base64.urlsafe_b64decode(sealed.removeprefix("sealed:")))
    with pytest.raises(CannotUnseal) as error:
        unseal(sealed, replace(BINDING, root=""))
    shown += repr(error.value) + str(error.value.__context__)
    assert "C4n4ry" not in shown


def test_the_binding_of_a_crawl_point_holds_its_origin_only() -> None:
    pytest.importorskip("clearinghouse.addresses.parsing")
    binding = binding_of("HTTPS://EX.gov:443/measures/list.html", "https://ex.gov/measures/", 3, None)
    assert binding == Binding("https://ex.gov", "https://ex.gov/measures/", 3, "")


def test_a_password_may_be_bound_to_an_origin_of_any_scheme() -> None:
    binding = Binding("sftp://files.ex.gov:2222", "/outgoing/", 0)
    sealed = seal(PASSWORD, binding)
    assert unseal(sealed, binding) == PASSWORD
    with pytest.raises(CannotUnseal):
        unseal(sealed, Binding("ftp://files.ex.gov:2222", "/outgoing/", 0))
