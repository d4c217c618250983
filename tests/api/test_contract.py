"""Whatever is sent, within the OpenAPI document or against it, the answer is one the document promises."""

import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearinghouse.accounts.keys import api_keys
from clearinghouse.library.models import Document
from crawler.api import api_dispatch
from crawler.api.addresses import ADDRESSES
from crawler.api.openapi import openapi
from crawler.launching.launch import snapshot_of
from crawler.models import Finding, LedgerEntry, Propagation, Run
from crawler.preview import preview_rows as previews
from crawlpoints.documents import api
from crawlpoints.imports import import_steps
from tests.accounts.routes import indexed_page, routes, undone

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
DOCUMENT = openapi()
OPERATIONS = [(address.path, address.name, method) for address in ADDRESSES for method in address.methods]


def fits(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value is what a schema says: the part of JSON Schema that the document uses."""
    if "$ref" in schema:
        return fits(value, DOCUMENT["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    python = {"integer": int, "string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}
    if not any(type(value) is python[kind] for kind in kinds):
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if isinstance(value, list):
        return all(fits(item, schema["items"]) for item in value)
    if isinstance(value, dict):
        known, more = schema.get("properties", {}), schema.get("additionalProperties", True)
        if missing := set(schema.get("required", ())) - set(value):
            raise AssertionError(f"{missing} missing in {list(value)}")
        return all(
            fits(inner, known[name]) if name in known else (fits(inner, more) if isinstance(more, dict) else more)
            for name, inner in value.items()
        )
    return True


def values_of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Mostly what the schema allows, sometimes not."""
    odd = st.one_of(st.none(), st.integers(), st.text(max_size=5), st.lists(st.none(), max_size=1), st.booleans())
    return st.one_of(_allowed(schema), _allowed(schema), _allowed(schema), odd)


def _allowed(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if schema["type"] == "integer":
        low, high = schema.get("minimum", 0), schema.get("maximum", 2**63 - 1)
        return st.one_of(st.sampled_from([low, high]), st.integers(low, min(high, 5)))
    if schema["type"] == "boolean":
        return st.booleans()
    if schema["type"] == "array":
        return st.lists(_allowed(schema["items"]), max_size=3)
    if schema["type"] == "object":
        names = schema["properties"]
        needed = {name: values_of(names[name]) for name in schema.get("required", ())}
        return st.fixed_dictionaries(needed, optional={n: values_of(s) for n, s in names.items() if n not in needed})
    urls = st.sampled_from(["https://quality.example.gov/measures/", "https://x.example/a*", "regex:(", "\ud800", "\0"])
    return st.one_of(urls, st.text(max_size=min(schema.get("maxLength", 40), 40)))


@pytest.fixture
def client(administrator: Any, monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(api_dispatch, "_RATE", api_dispatch.Rate(10**9))
    _, text = api_keys.create(administrator, "test")
    return Client(headers={"Authorization": f"Bearer {text}"}, raise_request_exception=False)


def a_finding(run: Run) -> Finding:
    excursion = run.excursions.earliest("id")
    values = {"run_id": run.pk, "doc_id": excursion.doc_id, "rule": "drop", "weight": 2, "sentence": "38% fewer pages"}
    return Finding.objects.create(excursion=excursion, fixes=[{"label": "Changes", "to": "changes"}], **values)


@pytest.fixture
def known(document: Document, point: Any, run: Run) -> dict[str, list[Any]]:
    entry = LedgerEntry.objects.filter(version_id__isnull=False).earliest("id")
    generation = Propagation.objects.create(requested_by="a", created_at=run.created_at).pk
    return {
        "doc_id": [document.pk], "point_id": [point.pk], "exclude_id": [1], "run_id": [run.pk], "entry_id": [entry.pk],
        "generation": [generation], "action": ["pause", "stop", "fly"], "other_id": [run.pk],
        "key": ["0" * 64], "page_id": [indexed_page(document)], "schedule_id": [1], "note_id": [1],
        "finding_id": [a_finding(run).pk], "preview_id": [previews.ask(snapshot_of(document), "a", {}).pk],
        "import_id": [import_steps.ask(document, ["url\n"], "a").pk], "order": ["import", "cancel", "undo", "fly"],
    }  # fmt: skip


@pytest.mark.parametrize(("path", "name", "method"), OPERATIONS)
def test_every_answer_is_one_the_document_promises(
    client: Client, known: dict[str, list[Any]], path: str, name: str, method: str
) -> None:
    shown = "/" + "/".join(
        part if "<" not in part else "{" + part.strip("<>").split(":")[1] + "}" for part in path.split("/")
    )
    promised = DOCUMENT["paths"][shown][method.lower()]
    arguments = DOCUMENT["paths"][shown].get("parameters", [])
    body = promised.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    query = {one["name"]: one["schema"] for one in promised.get("parameters", [])}
    statuses = set()

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(data=st.data())
    def ask(data: st.DataObject) -> None:
        filled = shown
        for one in arguments:
            strange = [0, 2**63 - 1, 2**63, 10**30] if one["schema"]["type"] == "integer" else ["-"]
            chosen = data.draw(st.sampled_from(known[one["name"]] * 4 + strange))
            filled = filled.replace("{" + one["name"] + "}", str(chosen))
        asked = data.draw(st.fixed_dictionaries({}, optional={n: values_of(s) for n, s in query.items()}))
        sent = data.draw(values_of(body)) if body else None
        words = {n: json.dumps(v) if not isinstance(v, str) else v for n, v in asked.items() if v != "\ud800"}
        with undone():
            response = client.generic(
                method, f"/api/v1{filled}", data="" if sent is None else json.dumps(sent),
                content_type="application/json", query_params=words,
            )  # fmt: skip
        status = str(response.status_code)
        assert status in promised["responses"], (status, response.content[:500])
        schema = promised["responses"][status]["content"]["application/json"]["schema"]
        assert fits(response.json(), schema), response.content[:500]
        statuses.add(status)

    ask()
    assert statuses & {"200", "201", "409", "422", "404"}


def test_the_document_is_whole_and_every_operation_has_a_name_of_its_own() -> None:
    text = json.dumps(DOCUMENT)
    for name in {word.split('"')[0] for word in text.split("#/components/schemas/")[1:]}:
        assert name in DOCUMENT["components"]["schemas"]
    ids = [
        one["operationId"] for path in DOCUMENT["paths"].values() for key, one in path.items() if key != "parameters"
    ]
    assert len(ids) == len(set(ids)) == len(OPERATIONS)


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '"x"', "NaN", '{"urls": NaN}', "[" * 5000, "\ud800"])
def test_what_is_no_json_object_is_refused_with_a_sentence(client: Client, known: Any, body: str) -> None:
    sent = body.encode("utf-8", "surrogatepass")
    address = f"/api/v1/documents/{known['doc_id'][0]}/explain/"
    response = client.post(address, sent, content_type="application/json")
    assert response.status_code in (400, 422)
    assert response.json()["error"]


@pytest.mark.parametrize("length", [1_000_001, 6_000_000])  # Django reads no more than five million
def test_a_body_that_is_too_long_is_refused_in_json(client: Client, known: Any, length: int) -> None:
    address = f"/api/v1/documents/{known['doc_id'][0]}/explain/"
    response = client.post(address, b" " * length, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (400, "bad_request")
    assert "1 MB" in response.json()["error"]


def test_a_form_is_not_taken_for_json(client: Client, known: Any) -> None:
    response = client.post(f"/api/v1/documents/{known['doc_id'][0]}/explain/", {"urls": "x"})
    assert (response.status_code, response.json()["code"]) == (400, "bad_request")


def test_an_unknown_method_or_parameter_is_named(client: Client) -> None:
    response = client.put("/api/v1/me/")
    assert (response.status_code, response["Allow"]) == (405, "GET")
    response = client.get("/api/v1/documents/?order_by=password&_connector=OR")
    assert (response.status_code, set(response.json()["fields"])) == (400, {"order_by", "_connector"})


def test_the_page_names_every_address_and_loads_nothing_from_elsewhere(signed_in: Any, editor: Any) -> None:
    page = signed_in(editor).get("/api/docs/").content.decode()
    for path in DOCUMENT["paths"]:
        assert f"/api/v1{path}" in page
    assert "https://" not in page.replace("http://testserver", "")
    assert signed_in(editor).get("/api/v1/openapi.json").json() == DOCUMENT


def test_every_address_under_api_is_described_and_every_description_has_an_address() -> None:
    """Whatever is routed under /api/v1/ but the document itself and the answer for nothing."""
    routed = {route.name: route.pattern for route in routes() if route.pattern.startswith("/api/")}
    described = {address.name for address in ADDRESSES}
    assert set(routed) - described == {"api-docs", "api-openapi", "api-nothing"}
    assert len(described) == len(DOCUMENT["paths"]) == len(ADDRESSES)


def test_what_is_no_address_is_told_in_json(client: Client) -> None:
    for path in ("/api/v1/documents/-1/", "/api/v1/nothing/", "/api/v1/runs/x/urls/"):
        for method in ("get", "post", "delete"):
            response = getattr(client, method)(path)
            assert (response.status_code, response.json()["code"]) == (404, "not_found"), path


def test_a_fault_of_ours_is_told_in_json_and_says_nothing_of_it(
    client: Client, known: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> None:
        raise RuntimeError("the inside of the house")

    monkeypatch.setattr(api, "document_json", broken)
    response = client.get(f"/api/v1/documents/{known['doc_id'][0]}/")
    assert (response.status_code, response.json()["code"]) == (500, "fault")
    assert "inside" not in response.content.decode()
