"""Several handles and threads on one book: each reads what any of them wrote, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from commonplace.testing.contract.harness import Harness, Shelf, all_of, found, ids

from commonplace.book import Book
from commonplace.errors import Conflict, NotFound
from commonplace.kv import KeyValue
from commonplace.values import Draft

THREADS = 8
ROUNDS = 10


class SharingConformance(Harness):
    """Read-your-writes, compare-and-set and append under contention."""

    def test_one_handle_reads_what_the_other_wrote(self, shelf: Shelf) -> None:
        one, two = shelf.open(), shelf.open()
        all_of(two)  # its index is warm, and must catch up
        memory = one.remember("The harbour opens", id="m")
        assert (two.get("m"), ids(two.list()), found(two.recall("The harbour opens"))) == (memory, ["m"], ["m"])
        two.revise("m", "The lighthouse shines")
        assert one.get("m").version == 2
        assert found(one.recall("The lighthouse shines")) == ["m"]
        one.remember("The lighthouse is dark", id="n", supersedes=["m"])
        assert all_of(two, "lighthouse") == {"n"}
        two.forget("n")
        assert all_of(one, "lighthouse") == set()
        one.forget(everything=True)
        two.remember("The pier", id="p")
        assert all_of(one, "pier") == {"p"}

    def test_one_handle_reads_the_others_state(self, shelf: Shelf) -> None:
        one, two = shelf.open(), shelf.open()
        one.kv("n").set("k", 1)
        assert two.kv("n").get("k") == 1
        two.canvas("c").write("a.md", "x")
        assert one.canvas("c").read("a.md") == "x"
        one.transcript("s").append("hi")
        assert two.transcript("s").append("ho").number == 2
        assert [message.content for message in one.transcript("s").read()] == ["hi", "ho"]

    def test_many_handles_take_turns(self, shelf: Shelf) -> None:
        books = [shelf.open() for _ in range(4)]
        for i in range(20):
            books[i % 4].remember(f"harbour turn number{i}", id=f"m{i}")
            reader = books[(i + 1) % 4]
            assert all_of(reader) == {f"m{j}" for j in range(i + 1)}

    def test_increments_by_compare_and_set_are_all_counted(self, shelf: Shelf) -> None:
        books = [shelf.open(), shelf.open()]

        def increment(worker: int) -> None:
            kv = books[worker % 2].kv("n")
            for _ in range(ROUNDS):
                until_won(lambda: raise_by_one(kv))

        together(increment)
        assert books[0].kv("n").get("count") == THREADS * ROUNDS

    def test_appends_are_all_kept_in_each_writers_order(self, shelf: Shelf) -> None:
        books = [shelf.open(), shelf.open()]

        def append(worker: int) -> None:
            for round in range(ROUNDS):
                books[worker % 2].kv("n").append("list", [worker, round])

        together(append)
        items = books[0].kv("n").get("list")
        assert isinstance(items, list)
        assert len(items) == THREADS * ROUNDS
        for worker in range(THREADS):
            assert [item for item in items if item[0] == worker] == [[worker, r] for r in range(ROUNDS)]

    def test_messages_of_many_writers_have_no_gaps(self, shelf: Shelf) -> None:
        books = [shelf.open(), shelf.open()]
        together(lambda worker: [books[worker % 2].transcript("s").append([worker, r]) for r in range(ROUNDS)])
        numbers = [message.number for message in books[0].transcript("s").read()]
        assert numbers == list(range(1, THREADS * ROUNDS + 1))

    def test_files_written_by_compare_and_set_lose_nothing(self, shelf: Shelf) -> None:
        books = [shelf.open(), shelf.open()]
        books[0].canvas("c").write("a.md", "")

        def write(worker: int) -> None:
            canvas = books[worker % 2].canvas("c")

            def attempt() -> None:
                file = canvas.file("a.md")
                canvas.write("a.md", f"{file.content}{worker}\n", if_version=file.revision)

            for _ in range(ROUNDS // 2):
                until_won(attempt)

        together(write)
        lines = books[0].canvas("c").read("a.md").splitlines()
        assert sorted(lines) == sorted(str(worker) for worker in range(THREADS) for _ in range(ROUNDS // 2))

    def test_revisions_by_compare_and_set_lose_nothing(self, shelf: Shelf) -> None:
        books = [shelf.open(), shelf.open()]
        books[0].remember("counter", id="m", metadata={"count": 0})

        def revise(worker: int) -> None:
            book = books[worker % 2]

            def attempt() -> None:
                memory = book.get("m")
                count = memory.metadata["count"]
                assert isinstance(count, int)
                book.revise("m", metadata={"count": count + 1}, if_version=memory.version)

            for _ in range(ROUNDS // 2):
                until_won(attempt)

        together(revise)
        assert books[1].get("m").metadata == {"count": THREADS * (ROUNDS // 2)}
        assert len(books[1].history("m")) == THREADS * (ROUNDS // 2) + 1

    def test_revisions_without_a_version_all_land(self, book: Book) -> None:
        book.remember("zero", id="m")
        together(lambda worker: book.revise("m", f"worker {worker}"))
        assert [step.version for step in book.history("m")] == list(range(1, THREADS + 2))

    def test_one_of_many_who_take_an_id_gets_it(self, shelf: Shelf) -> None:
        books = [shelf.open(), shelf.open()]

        def take(worker: int) -> int:
            try:
                books[worker % 2].remember(f"worker {worker}", id="m")
            except Conflict as error:
                return 1 - error.current
            return 1

        assert sum(together(take)) == 1

    def test_threads_read_what_they_wrote_while_others_write(self, shelf: Shelf) -> None:
        books = [shelf.open(), shelf.open()]

        def work(worker: int) -> None:
            book = books[worker % 2]
            for i in range(ROUNDS):
                text = f"harbour worker{worker} entry{i}"
                memory = book.remember(text)
                assert book.recall(text, threshold=0).hits[0].memory.text == text
                assert book.get(memory.id) == memory
                if i % 3 == 0:
                    book.forget(memory.id)
                    assert memory.id not in found(book.recall(text, threshold=0))

        together(work)
        assert books[0].stats().memories == THREADS * (ROUNDS - 4)

    def test_a_failure_of_one_writer_is_nobody_elses(self, book: Book) -> None:
        book.remember("x", id="taken")

        def work(worker: int) -> bool:
            try:
                book.remember([Draft(content="a"), Draft(content="b", id="taken" if worker % 2 else None)])
            except Conflict:
                return False
            return True

        assert sum(together(work)) == THREADS // 2
        assert book.stats().memories == THREADS + 1

    def test_one_of_many_who_forget_succeeds(self, book: Book) -> None:
        book.remember("x", id="m")

        def forget(worker: int) -> int:
            try:
                return book.forget("m").memories
            except NotFound:
                return 0

        assert sum(together(forget)) == 1

    def test_new_spaces_are_made_once(self, shelf: Shelf) -> None:
        books = [shelf.open(), shelf.open()]
        together(lambda worker: books[worker % 2].in_space("new").kv("n").append("l", worker))
        assert len(list(books[0].in_space("new").kv("n").get("l"))) == THREADS


def together(work: Callable[[int], object]) -> list[int]:
    """Run `work` in THREADS threads, each with its number; the first failure is raised."""
    with ThreadPoolExecutor(THREADS) as pool:
        return [result if isinstance(result, int) else 0 for result in pool.map(work, range(THREADS))]


def until_won(attempt: Callable[[], object]) -> None:
    """Try until no Conflict comes: what every compare-and-set writer does."""
    while True:
        try:
            attempt()
            return
        except Conflict:
            continue


def raise_by_one(kv: KeyValue) -> None:
    """Read a number, and write the next one if no other writer changed it."""
    entry = kv.entry("count")
    before = entry.value if entry is not None else 0
    assert isinstance(before, int)
    kv.set("count", before + 1, if_version=entry.version if entry is not None else 0)
