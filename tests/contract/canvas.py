"""Canvas: files that agents write together; every revision is kept."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from commonplace.testing.contract.harness import Harness, Shelf, each, now, wrong

from commonplace.book import Book
from commonplace.canvas import Canvas
from commonplace.errors import Conflict, InvalidInput, InvalidPatch, InvalidText, NotFound, StalePatch, TooLarge

CONTENTS = [
    "",
    "one line",
    "ends\n",
    "a\r\nb\r\n",
    "naïve 北京 🚢\n",
    "\u2028odd\x0bseparators\x85\n",
    "\n\n\n",
    "x" * 100_000,
]


class CanvasConformance(Harness):
    """`canvas(name)`."""

    def test_a_forgotten_file_leaves_no_revision(self, book: Book) -> None:
        canvas = book.canvas("c")
        canvas.write("secret.txt", "one")
        canvas.write("secret.txt", "two")
        canvas.write("kept.txt", "kept")
        assert canvas.forget("secret.txt") == 2
        with pytest.raises(NotFound):
            canvas.read("secret.txt", 1)
        assert canvas.files() == {"kept.txt": 1}
        with pytest.raises(NotFound):
            canvas.forget("secret.txt")

    @pytest.mark.parametrize("content", CONTENTS, ids=lambda content: repr(content)[:20])
    def test_a_file_comes_back_equal(self, shelf: Shelf, content: str) -> None:
        written = shelf.open().canvas("c").write("dir/a.md", content, author="ada")
        canvas = shelf.reopen().canvas("c")
        assert (canvas.read("dir/a.md"), canvas.file("dir/a.md")) == (content, written)
        assert (written.path, written.revision, written.author, written.deleted) == ("dir/a.md", 1, "ada", False)
        assert abs(written.at - now()) < timedelta(seconds=30)

    def test_every_revision_is_kept(self, shelf: Shelf) -> None:
        canvas = shelf.open().canvas("c")
        written = [canvas.write("a.md", f"version {i}\n", author=f"agent {i}") for i in range(5)]
        canvas = shelf.reopen().canvas("c")
        assert [file.revision for file in written] == [1, 2, 3, 4, 5]
        assert canvas.revisions("a.md") == written
        assert [canvas.read("a.md", n) for n in (1, 2, 3, 4, 5)] == [file.content for file in written]
        assert [canvas.file("a.md", file.revision) for file in written] == written

    def test_files_are_listed_with_their_revision(self, book: Book) -> None:
        canvas = book.canvas("c")
        for path in ("b.md", "a.md", "dir/c.md", "b.md"):
            canvas.write(path, "x")
        assert canvas.files() == {"a.md": 1, "b.md": 2, "dir/c.md": 1}
        assert list(canvas.files()) == ["a.md", "b.md", "dir/c.md"]
        assert book.stats().files == 3

    def test_one_of_two_writers_of_a_file_wins(self, book: Book) -> None:
        canvas = book.canvas("c")
        assert canvas.write("a.md", "one", if_version=0).revision == 1
        with pytest.raises(Conflict) as caught:
            canvas.write("a.md", "two", if_version=0)
        assert caught.value.current == 1
        assert canvas.write("a.md", "two", if_version=1).revision == 2
        with pytest.raises(Conflict) as caught:
            canvas.write("a.md", "three", if_version=1)
        assert (caught.value.current, canvas.read("a.md")) == (2, "two")
        with pytest.raises(Conflict) as caught:
            canvas.delete("a.md", if_version=1)
        assert caught.value.current == 2
        with pytest.raises(Conflict) as caught:
            canvas.write("new.md", "x", if_version=1)
        assert caught.value.current == 0
        assert canvas.files() == {"a.md": 2}

    def test_a_deleted_file_is_gone_and_its_revisions_are_not(self, book: Book) -> None:
        canvas = book.canvas("c")
        canvas.write("a.md", "one")
        gone = canvas.delete("a.md", author="ada")
        assert (gone.revision, gone.deleted, gone.content, gone.author) == (2, True, "", "ada")
        assert (canvas.files(), book.canvases(), book.stats().files) == ({}, [], 0)
        for ask in (canvas.read, canvas.file, canvas.delete):
            with pytest.raises(NotFound):
                ask("a.md")
        assert (canvas.read("a.md", 1), len(canvas.revisions("a.md"))) == ("one", 2)
        again = canvas.write("a.md", "again", if_version=0)
        assert (again.revision, canvas.read("a.md")) == (3, "again")

    def test_what_is_not_there_is_not_found(self, book: Book) -> None:
        canvas = book.canvas("c")
        canvas.write("a.md", "x")
        asks: list[Callable[[], object]] = [
            lambda: canvas.read("b.md"), lambda: canvas.file("b.md"), lambda: canvas.read("a.md", 2),
            lambda: canvas.revisions("b.md"), lambda: canvas.delete("b.md"), lambda: canvas.diff("a.md", 1, 2),
            lambda: canvas.diff("b.md", 1), lambda: book.canvas("other").read("a.md"),
        ]  # fmt: skip
        for ask in asks:
            with pytest.raises(NotFound):
                ask()

    def test_canvases_are_apart(self, book: Book) -> None:
        book.canvas("one").write("a.md", "1")
        book.canvas("two").write("a.md", "2")
        assert (book.canvas("one").read("a.md"), book.canvas("two").read("a.md")) == ("1", "2")
        assert book.canvases() == ["one", "two"]

    @each("new", CONTENTS[:-1])
    @each("old", ["", "one\ntwo\nthree\n", "a\r\nb\r\n", "no end"])
    def test_a_diff_applies_to_what_it_was_made_from(self, book: Book, old: str, new: str) -> None:
        canvas = book.canvas("c")
        canvas.write("a.md", old)
        canvas.write("a.md", new)
        patch = canvas.diff("a.md", 1, 2)
        assert patch == canvas.diff("a.md", 1)
        if old == new:
            assert patch == ""
            return
        canvas.write("a.md", old)
        (file,) = canvas.apply(patch, author="ada")
        assert (file.revision, file.author, canvas.read("a.md")) == (4, "ada", new)

    def test_a_patch_over_several_files_is_all_or_nothing(self, book: Book) -> None:
        canvas = book.canvas("c")
        canvas.write("a.md", "a\n")
        canvas.write("b.md", "b\n")
        patch = replace("a.md", "a", "A") + replace("b.md", "WRONG", "B")
        with pytest.raises(StalePatch) as caught:
            canvas.apply(patch)
        assert caught.value.current == 1
        assert (canvas.read("a.md"), canvas.files()) == ("a\n", {"a.md": 1, "b.md": 1})
        done = canvas.apply(replace("a.md", "a", "A") + replace("b.md", "b", "B"))
        assert [(file.path, file.revision) for file in done] == [("a.md", 2), ("b.md", 2)]
        assert (canvas.read("a.md"), canvas.read("b.md")) == ("A\n", "B\n")

    def test_a_patch_makes_and_deletes_files(self, book: Book) -> None:
        canvas = book.canvas("c")
        canvas.apply("--- /dev/null\n+++ b/new.md\n@@ -0,0 +1 @@\n+hello\n")
        assert canvas.read("new.md") == "hello\n"
        (file,) = canvas.apply("--- a/new.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-hello\n")
        assert (file.deleted, canvas.files()) == (True, {})

    def test_a_patch_compares_versions_when_asked(self, book: Book) -> None:
        canvas = book.canvas("c")
        canvas.write("a.md", "a\n")
        canvas.write("b.md", "b\n")
        both = replace("a.md", "a", "A") + replace("b.md", "b", "B")
        for stale in (0, 2):
            with pytest.raises(Conflict) as caught:
                canvas.apply(replace("a.md", "a", "A"), if_version=stale)
            assert caught.value.current == 1
        with pytest.raises(Conflict):
            canvas.apply(both, if_version={"a.md": 1, "b.md": 7})
        with pytest.raises(InvalidInput):
            canvas.apply(both, if_version=1)
        assert canvas.files() == {"a.md": 1, "b.md": 1}
        assert len(canvas.apply(both, if_version={"a.md": 1, "b.md": 1})) == 2
        assert canvas.apply(replace("a.md", "A", "Z"), if_version=2)[0].revision == 3

    @each("patch", ["", "hello", "--- a/a.md\n+++ b/a.md\n", "@@ -1 +1 @@\n-a\n+b\n"])
    def test_what_is_no_patch_is_refused(self, book: Book, patch: str) -> None:
        canvas = book.canvas("c")
        canvas.write("a.md", "a\n")
        with pytest.raises(InvalidPatch):
            canvas.apply(patch)
        assert canvas.files() == {"a.md": 1}

    @each("path", ["", " ", "/etc", "../up", "a/../b", "a//b", "a/", "./a", "a\\b", "a\nb", "a\0b", "\ud800", 5, None])
    def test_paths_stay_inside_their_canvas(self, book: Book, path: object) -> None:
        canvas = book.canvas("c")
        with pytest.raises(InvalidInput):
            canvas.write(wrong(path), "x")
        with pytest.raises(InvalidInput):
            canvas.read(wrong(path))
        assert canvas.files() == {}

    def test_a_patch_stays_inside_its_canvas_too(self, book: Book) -> None:
        with pytest.raises(InvalidInput):
            book.canvas("c").apply("--- /dev/null\n+++ b/../up.md\n@@ -0,0 +1 @@\n+hello\n")

    def test_contents_are_text_within_the_limits(self, book: Book) -> None:
        canvas = book.canvas("c")
        refused: list[tuple[type[Exception], object]] = [
            (InvalidText, "a\0"), (InvalidText, "\ud800"), (InvalidInput, b"x"), (InvalidInput, None),
            (TooLarge, "x" * 40_000_000),
        ]  # fmt: skip
        for error, content in refused:
            with pytest.raises(error):
                canvas.write("a.md", wrong(content))
        assert canvas.files() == {}
        large = "0123456789\n" * 1_000_000
        canvas.write("a.md", large)
        assert canvas.read("a.md") == large

    @each("revision", [0, -1, 1.5, True, "1"])
    def test_a_revision_is_a_whole_number_from_1(self, book: Book, revision: object) -> None:
        canvas: Canvas = book.canvas("c")
        canvas.write("a.md", "x")
        with pytest.raises(InvalidInput):
            canvas.read("a.md", wrong(revision))


def replace(path: str, old: str, new: str) -> str:
    """A patch that changes a file of one line."""
    return f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{new}\n"
