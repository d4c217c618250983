"""What the tests of Tika and POI say is read from their source as it is meant."""

from pathlib import Path

from tests.packages import word
from tests.suites import Result
from tests.suites._java_tests import judge

JAVA = r"""
class ATest {
    @Test public void one() { String xml = getXML("a.docx").xml;
        assertContains("Hello <b>wor</b>ld &amp; " +
                "caf\u00e9", xml);
        POITestCase.assertContains(text, "missing"); assertNotContained("absent", xml);
        assertNotContained("Hello", xml); assertContains("x", metadata.get("title")); }
    @Test public void two() { getXML("a.docx"); getXML("b.docx"); assertContains("of which?", xml); }
}
"""


def test_each_text_a_method_names_is_a_case(tmp_path: Path) -> None:
    (tmp_path / "ATest.java").write_text(JAVA)
    for name in ("a.docx", "b.docx"):
        (tmp_path / name).write_bytes(word("<w:p><w:r><w:t>Hello world &amp; café</w:t></w:r></w:p>"))
    result = Result()
    judge(tmp_path, {"a.docx: miss": "it is not there"}, result)
    assert (result.cases, result.passed) == (4, 2)
    assert result.differences == ["it is not there"]
    assert result.faults == ["a.docx: Hello: ours True, theirs False"]
