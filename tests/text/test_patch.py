"""Unified diffs: parsing, rejection of wrong ones, and exact application."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import Conflict, InvalidPatch, StalePatch
from commonplace.text.patch import NOWHERE, FileChange, apply, apply_file, diff, parse

TEN = "".join(f"line {number}\n" for number in range(1, 11))


def patched(patch: str, files: dict[str, str], revisions: dict[str, int] | None = None) -> dict[str, str | None]:
    changes = apply(patch, files.get, current=revisions or {})
    return {change.path: change.content for change in changes}


def hunks(body: str, path: str = "x") -> str:
    return f"--- a/{path}\n+++ b/{path}\n{body}"


# --- reading ----------------------------------------------------------------------------------------


def test_a_plain_diff_changes_one_line() -> None:
    patch = hunks("@@ -1,3 +1,3 @@ some heading\n a\n-b\n+B\n c\n")
    assert patched(patch, {"x": "a\nb\nc\n"}) == {"x": "a\nB\nc\n"}


def test_several_files_are_changed_created_deleted_and_renamed_together() -> None:
    patch = (
        "diff --git a/one b/one\nindex 12ab..34cd 100644\n--- a/one\n+++ b/one\n@@ -1 +1 @@\n-1\n+I\n"
        "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+x\n+y\n"
        "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n"
        "diff --git a/here b/there\nsimilarity index 100%\nrename from here\nrename to there\n"
        "diff --git a/p b/q\nrename from p\nrename to q\n--- a/p\n+++ b/q\n@@ -1 +1 @@\n-p\n+q\n"
    )
    files = {"one": "1\n", "gone": "z\n", "here": "kept", "p": "p\n"}
    assert patched(patch, files) == {
        "one": "I\n", "new": "x\ny\n", "gone": None, "here": None, "there": "kept", "p": None, "q": "q\n",
    }  # fmt: skip


def test_a_rename_gives_the_old_path_as_gone_and_then_the_new_one() -> None:
    patch = diff("t", "t", "old", "new")
    assert apply(patch, {"old": "t"}.get, current={}) == (
        FileChange(path="old", content=None),
        FileChange(path="new", content="t"),
    )


def test_empty_files_are_created_and_deleted() -> None:
    assert patched("diff --git a/e f b/e f\nnew file mode 100644\nindex 0000..e69d\n", {}) == {"e f": ""}
    assert patched("diff --git a/e b/e\ndeleted file mode 100644\n", {"e": ""}) == {"e": None}


@pytest.mark.parametrize(
    "names",
    [
        "--- a/x\n+++ b/x\n",
        "--- x\n+++ x\n",
        "--- a/x\t2024-01-01 00:00:00.000 +0000\n+++ b/x\t2024-01-02 00:00:00.000 +0000\n",
        "--- a/x\r\n+++ b/x\r\n",
        '--- "a/x"\n+++ "b/\\170"\n',
        "diff -u a/x b/x\n--- a/x\n+++ b/x\n",
        f"Index: x\n{'=' * 67}\n--- x\n+++ x\n",
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n--- a/x\n+++ b/x\n",
        "\n\n--- a/x\n+++ b/x\n",
    ],
)
def test_every_common_header_names_the_file(names: str) -> None:
    assert patched(f"{names}@@ -1 +1 @@\n-a\n+b\n", {"x": "a\n"}) == {"x": "b\n"}


def test_a_directory_called_a_is_no_prefix_unless_its_partner_is_b() -> None:
    assert patched("--- a/x\n+++ a/x\n@@ -1 +1 @@\n-1\n+2\n", {"a/x": "1\n"}) == {"a/x": "2\n"}


def test_a_quoted_git_path_is_read_as_utf_8() -> None:
    patch = '--- "a/\\303\\244\\t.md"\n+++ "b/\\303\\244\\t.md"\n@@ -1 +1 @@\n-1\n+2\n'
    assert patched(patch, {"ä\t.md": "1\n"}) == {"ä\t.md": "2\n"}


def test_removed_and_added_lines_may_look_like_headers() -> None:
    patch = hunks("@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n z\n")
    assert patched(patch, {"x": "-- a/y\nz\n"}) == {"x": "++ b/y\nz\n"}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_empty_context_line_may_have_lost_its_space(end: str) -> None:
    patch = hunks(f"@@ -1,3 +1,3 @@\n a{end}{end}-b{end}+c{end}")
    assert patched(patch, {"x": f"a{end}{end}b{end}"}) == {"x": f"a{end}{end}c{end}"}


def test_blank_lines_around_complete_hunks_are_ignored() -> None:
    patch = hunks("@@ -1 +1 @@\n-line 1\n+one\n\n@@ -9 +9 @@\n-line 9\n+nine\n\n\n")
    assert patched(patch, {"x": TEN})["x"] == TEN.replace("line 1\n", "one\n", 1).replace("line 9", "nine")


def test_the_last_line_of_a_patch_may_lack_its_newline() -> None:
    assert patched(hunks("@@ -1 +1 @@\n-a\n+b"), {"x": "a\n"}) == {"x": "b\n"}


@pytest.mark.parametrize(
    ("before", "body", "after"),
    [
        ("a", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "a\n"),
        ("a\n", "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", "a"),
        ("a\nb", "@@ -1,2 +1,2 @@\n-a\n+c\n b\n\\ No newline at end of file\n", "c\nb"),
        ("a\nb", "@@ -1,2 +1 @@\n a\n-b\n\\ No newline at end of file\n", "a\n"),
    ],
)
def test_a_missing_newline_at_the_end_is_kept_made_and_mended(before: str, body: str, after: str) -> None:
    assert patched(hunks(body), {"x": before}) == {"x": after}


# --- refusing what is no patch ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("patch", "words"),
    [
        ("", "the patch is empty"),
        (" \n\n", "the patch is empty"),
        ("please change a to b", "not part of a unified diff"),
        ("```diff\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n```\n", "code fences"),
        (hunks("@@ -1 +1 @@\n-a\n+b\n") + "done!\n", '"done!"'),
        ("@@ -1 +1 @@\n-a\n+b\n", "hunk without a file"),
        ("Index: x\n", "the patch ends"),
        (hunks(""), "no hunk follows"),
        (hunks("@@ ... @@\n-a\n+b\n"), "@@ -start,count +start,count @@"),
        (hunks("@@ -1,3 +1 @@\n-a\n+b\n"), "promises 3 old and 1 new lines, but 1 old and 1 new"),
        (hunks("@@ -1 +1 @@\n-a\n+b\n+c\n"), "promises 1 old and 1 new lines, but 1 old and 2 new"),
        (hunks("@@ -1,2 +1,2 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n"), "do not add up"),
        (hunks("@@ -1 +1 @@\n-a\n+b\n") * 2, '"x" in 2 places'),
        (hunks("@@ -1 +1 @@\n-a\n+b\n") + diff("t", "t", "y", "x"), '"x" in 2 places'),
        (hunks("@@ -1 +1 @@\n a\n"), "changes nothing"),
        (hunks("@@ -1,0 +1,0 @@\n"), "changes nothing"),
        (hunks("@@ -1 +1,2 @@\n-a\n+b\n\\ No newline at end of file\n+c\n"), "before the last line"),
        (
            hunks("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -5 +5 @@\n-c\n+d\n"),
            "before the last hunk",
        ),
        (hunks("@@ -1 +1 @@\n-a\n+\n\\ No newline at end of file\n"), "which is not a line"),
        (hunks("@@ -1 +1 @@\n-a\n+b\n@@ -7,0 +8 @@\n+c\n"), "fits an empty file only"),
        ("--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "both sides"),
        ("--- /dev/null\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "may only add"),
        ("--- a/x\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "may only remove"),
        ("--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", "rename from"),
        ("--- a/\n+++ b/\n@@ -1 +1 @@\n-a\n+b\n", "path is missing"),
        ('--- "a/\\377"\n+++ "b/\\377"\n@@ -1 +1 @@\n-a\n+b\n', "not UTF-8"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "no change that can be applied"),
        ("diff --git a/x b/x\nBinary files a/x and b/x differ\n", "only text"),
        ("diff --git a/x b/y\ncopy from x\ncopy to y\n", "only text"),
        ("diff --git a/x b/y\nnew file mode 100644\n", "one path twice"),
        ("diff --git \nnew file mode 100644\n", "one path twice"),
        ("diff --git a/x b/x\nrename from x\nrename to x\n", "two different paths"),
        ("diff --git a/x b/x\nnew file mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "disagree"),
    ],
)
def test_text_that_is_no_usable_diff_is_refused_with_the_reason(patch: str, words: str) -> None:
    with pytest.raises(InvalidPatch) as caught:
        patched(patch, {"x": "a\n"})
    assert words in str(caught.value)


# --- refusing what does not fit -----------------------------------------------------------------------


def stale(patch: str, files: dict[str, str], revisions: dict[str, int] | None = None) -> StalePatch:
    with pytest.raises(StalePatch) as caught:
        patched(patch, files, revisions)
    return caught.value


def test_a_stale_patch_names_the_line_what_was_expected_and_what_is_there() -> None:
    patch = hunks(
        "@@ -1,2 +1,2 @@\n-line 1\n+one\n line 2\n@@ -6,3 +6,3 @@\n line 6\n-line 7\n+seven\n line 8\n",
        "notes.md",
    )
    error = stale(patch, {"notes.md": TEN.replace("line 8", "LINE 8")}, {"notes.md": 7})
    assert isinstance(error, Conflict)
    assert error.current == 7
    assert str(error) == (
        '"notes.md", hunk 2 (@@ -6,3 +6,3 @@) does not fit the file at revision 7: line 8 should read '
        '"line 8" but reads "LINE 8". Read the file again and make a new patch. '
        "Nothing was applied."
    )


def test_the_revision_may_come_from_a_function() -> None:
    with pytest.raises(StalePatch) as caught:
        apply(hunks("@@ -1 +1 @@\n-a\n+b\n"), {"x": "c\n"}.get, current=lambda path: len(path) + 4)
    assert caught.value.current == 5


def test_the_report_points_at_the_place_that_the_hunk_means_not_at_its_wrong_number() -> None:
    patch = hunks("@@ -1,4 +1,4 @@\n line 5\n line 6\n-line SEVEN\n+seven\n line 8\n")
    assert 'line 7 should read "line SEVEN" but reads "line 7"' in str(stale(patch, {"x": TEN}))


@pytest.mark.parametrize(
    ("content", "body", "words"),
    [
        ("a\r\n", "@@ -1 +1 @@\n-a\n+b\n", "only in how the line ends"),
        ("a", "@@ -1 +1 @@\n-a\n+b\n", "put the line `\\ No newline at end of file` below it"),
        ("a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "leave out the line"),
        ("\ta\n", "@@ -1 +1 @@\n-    a\n+b\n", "only in white space"),
        ("a\n", "@@ -1,2 +1 @@\n a\n-b\n", 'line 2 should read "b", but the file ends after line 1'),
        ("", "@@ -1 +1 @@\n-a\n+b\n", "the file ends after line 0"),
        ("a\nc\n", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", "but line 2 reads"),
        ("a\n", "@@ -0,0 +1 @@\n+b\n", "fits an empty file only"),
        ("a\n", "@@ -1,0 +2 @@\n+b\n", "fits an empty file only"),
        (f"{'y' * 500}1\n", f"@@ -1 +1 @@\n-{'y' * 500}2\n+b\n", 'yyy1"'),
        (f"{'y' * 500}\n", f"@@ -1 +1 @@\n-{'y' * 500}2\n+b\n", 'yyy2" but reads'),
    ],
)
def test_a_mismatch_is_explained(content: str, body: str, words: str) -> None:
    assert words in str(stale(hunks(body), {"x": content}))


def test_a_hunk_moves_to_the_only_place_where_all_its_lines_stand() -> None:
    patch = hunks("@@ -2,3 +2,3 @@\n line 6\n-line 7\n+seven\n line 8\n")
    assert patched(patch, {"x": TEN}) == {"x": TEN.replace("line 7", "seven")}


def test_a_hunk_that_stands_in_two_other_places_is_not_guessed() -> None:
    content = "top\na\nb\nmid\na\nb\n"
    error = stale(hunks("@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), {"x": content})
    assert "lines 2, 5" in str(error)


def test_a_hunk_that_fits_its_stated_line_may_fit_elsewhere_too() -> None:
    patch = hunks("@@ -4,2 +4,2 @@\n a\n-b\n+c\n")
    assert patched(patch, {"x": "top\na\nb\na\nb\n"}) == {"x": "top\na\nb\na\nc\n"}


def test_once_one_line_number_is_wrong_the_others_do_not_decide_between_two_places() -> None:
    content = "a\nb\na\nb\nend\n"
    patch = hunks("@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +9 @@\n-end\n+END\n")
    assert "lines 1, 3" in str(stale(patch, {"x": content}))


def test_overlapping_occurrences_count_as_two_places() -> None:
    assert "lines 1, 2" in str(stale(hunks("@@ -9,2 +9 @@\n a\n-a\n"), {"x": "a\na\na\n"}))


def test_a_match_must_start_at_the_start_of_a_line() -> None:
    stale(hunks("@@ -1 +1 @@\n-a\n+b\n"), {"x": "xa\n"})


def test_moved_hunks_keep_their_order_and_do_not_overlap() -> None:
    swapped = hunks("@@ -1 +1 @@\n-line 9\n+nine\n@@ -5 +5 @@\n-line 2\n+two\n")
    assert "in the order of the file" in str(stale(swapped, {"x": TEN}))
    overlapping = hunks("@@ -1,2 +1,2 @@\n-line 1\n+one\n line 2\n@@ -2 +2 @@\n-line 2\n+two\n")
    assert "in the order of the file" in str(stale(overlapping, {"x": TEN}))


def test_files_must_be_there_to_be_changed_and_absent_to_be_made() -> None:
    assert "there is no file" in str(stale(hunks("@@ -1 +1 @@\n-a\n+b\n"), {}))
    created = stale(diff("", "a\n", NOWHERE, "x"), {"x": ""}, {"x": 3})
    assert "already exists" in str(created)
    assert created.current == 3
    renamed = stale(diff("t", "t", "x", "y"), {"x": "t", "y": ""}, {"x": 1, "y": 2})
    assert renamed.current == 2


def test_a_deletion_must_remove_every_line() -> None:
    error = stale(diff("a\n", "", "x", NOWHERE), {"x": "a\nb\n"})
    assert 'starts with "b"' in str(error)


def test_one_stale_file_leaves_no_result_for_the_others() -> None:
    patch = hunks("@@ -1 +1 @@\n-a\n+b\n", "good") + hunks("@@ -1 +1 @@\n-a\n+b\n", "bad")
    assert '"bad"' in str(stale(patch, {"good": "a\n", "bad": "z\n"}))


def test_a_file_that_repeats_one_line_is_searched_quickly() -> None:
    content = "x\n" * 50_000
    body = "@@ -1,20001 +1,20000 @@\n" + " x\n" * 20_000 + "-y\n"
    assert "should read" in str(stale(hunks(body), {"x": content}))


# --- making -------------------------------------------------------------------------------------------


def test_a_diff_reads_like_any_unified_diff() -> None:
    assert diff(TEN, TEN.replace("line 5\n", ""), "n.md", "n.md") == (
        "--- a/n.md\n+++ b/n.md\n@@ -2,7 +2,6 @@\n line 2\n line 3\n line 4\n-line 5\n line 6\n line 7\n line 8\n"
    )


def test_equal_texts_have_no_diff() -> None:
    assert diff("a", "a", "x", "x") == ""


def test_a_parsed_patch_lists_the_paths_to_read() -> None:
    patch = diff("a", "b", "x", "y") + diff("", "c", NOWHERE, "z")
    assert [file.paths for file in parse(patch)] == [("x", "y"), ("z",)]


ENDINGS = st.sampled_from(["\n", "\r\n", "\r", "\n\r", "\x0b", "\x85", "\u2028", ""])
LINES = st.sampled_from(["a", "b", "", " ", "-", "+", "-- a/x", "++ b/x", "@@ -1 +1 @@", "\\ No newline"])
TEXTS = st.one_of(
    st.lists(st.tuples(LINES | st.text(max_size=5), ENDINGS), max_size=25).map(
        lambda parts: "".join(line + end for line, end in parts)
    ),
    st.text(alphabet="ab\n\r", max_size=60),
)
NAMES = st.text(min_size=1, max_size=8)


@given(TEXTS, TEXTS)
def test_a_diff_applied_to_the_old_text_gives_the_new_one(old: str, new: str) -> None:
    patch = diff(old, new, "x", "x")
    if old == new:
        assert patch == ""
    else:
        assert patched(patch, {"x": old}) == {"x": new}
        assert apply_file(parse(patch)[0], old) == new


@given(TEXTS, TEXTS, NAMES, NAMES)
def test_a_diff_may_create_delete_and_rename_any_name(old: str, new: str, one: str, two: str) -> None:
    assert patched(diff("", new, NOWHERE, one), {}) == {one: new}
    assert patched(diff(old, "", one, NOWHERE), {one: old}) == {one: None}
    if one != two:
        assert patched(diff(old, new, one, two), {one: old}) == {one: None, two: new}


@pytest.mark.slow
@given(TEXTS, TEXTS, st.data())
def test_a_context_or_removed_line_that_is_not_the_files_makes_the_patch_stale(
    old: str, new: str, data: st.DataObject
) -> None:
    lines = diff(old, new, "x", "x").split("\n")
    checked = [index for index, line in enumerate(lines[3:], 3) if line[:1] in (" ", "-")]
    if checked:
        index = data.draw(st.sampled_from(checked))
        lines[index] += "no such line"
        stale("\n".join(lines), {"x": old})


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=30, unique=True), st.data())
def test_a_context_line_that_changed_in_the_file_makes_the_patch_stale(numbers: list[int], data: st.DataObject) -> None:
    lines = [f"{number}\n" for number in numbers]
    edited = data.draw(st.integers(0, len(lines) - 1))
    patch = diff("".join(lines), "".join([*lines[:edited], "new\n", *lines[edited + 1 :]]), "x", "x")
    near = [index for index in range(edited - 3, edited + 4) if 0 <= index < len(lines)]
    changed = data.draw(st.sampled_from(near))
    lines[changed] = "changed\n"
    error = stale(patch, {"x": "".join(lines)}, {"x": 2})
    assert f'line {changed + 1} should read "{numbers[changed]}" but reads "changed"' in str(error)


@given(TEXTS, TEXTS, st.lists(st.integers(0, 1000), max_size=20, unique=True))
def test_lines_added_above_move_the_hunks_of_distinct_lines(old: str, new: str, above: list[int]) -> None:
    before = "".join(f"{index}: {line}\n" for index, line in enumerate(old.split("\n")))
    after = before + new
    top = "".join(f"above {number}\n" for number in above)
    if before != after:
        assert patched(diff(before, after, "x", "x"), {"x": top + before}) == {"x": top + after}


@given(TEXTS, TEXTS, st.data())
def test_a_damaged_patch_raises_one_of_the_two_errors_or_applies(old: str, new: str, data: st.DataObject) -> None:
    patch = diff(old, new, data.draw(st.sampled_from(["x", NOWHERE])), "x")
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(patch))] * 2)))
    damaged = patch[:start] + data.draw(TEXTS) + patch[end:]
    with suppress(InvalidPatch, StalePatch):
        patched(damaged, {"x": old})


# --- the same as git ----------------------------------------------------------------------------------

PAIRS = [
    ("a\nb\nc\n", "a\nB\nc\n"),
    ("a", "a\n"),
    ("a\n", "a"),
    ("a\r\nb\r\n", "a\r\nB\r\nc"),
    ("", "x\n"),
    ("x", ""),
    (TEN * 3, TEN + "new\n" + TEN * 2 + "end"),
]


def git(where: Path, *arguments: str, stdin: str = "") -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "core.autocrlf=false", *arguments]
    done = subprocess.run(command, cwd=where, input=stdin.encode(), capture_output=True, check=True, env=environment)
    return done.stdout.decode()


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_git_reads_our_diffs_and_we_read_its(old: str, new: str, tmp_path: Path) -> None:
    name = "ä file.md"
    file = tmp_path / name
    file.write_bytes(old.encode())
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "apply", "-", stdin=diff(old, new, name, name))
    assert file.read_bytes().decode() == new
    assert patched(git(tmp_path, "diff"), {name: old}) == {name: new}
    created = git(tmp_path, "diff", "--cached")
    assert patched(created, {}) == {name: old}
    git(tmp_path, "apply", "-", stdin=diff(new, old, name, "moved.md"))
    assert (tmp_path / "moved.md").read_bytes().decode() == old
