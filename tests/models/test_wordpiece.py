"""WordPiece: the same pieces as the package `tokenizers` for the shipped vocabulary."""

from __future__ import annotations

import pytest

from commonplace.models.embedders.static import DEFAULT
from commonplace.models.folder import ModelFolder
from commonplace.models.wordpiece import WordPiece, words

GOLDEN = [
    ("Hello, World!", ["hello", ",", "world", "!"]),
    ("unaffable embeddings", ["una", "##ffa", "##ble", "em", "##bed", "##ding", "##s"]),
    ("Café naïve résumé", ["cafe", "naive", "resume"]),
    ("e\u0301te\u0301", ["et", "##e"]),
    ("İstanbul ΣΑΣ", ["istanbul", "σ", "##α", "##σ"]),
    ("東京タワー", ["東", "京", "タ", "##ワ", "##ー"]),
    ("한국어", ["ᄒ", "##ᅡ", "##ᆫ", "##ᄀ", "##ᅮ", "##ᆨ", "##ᄋ", "##ᅥ"]),
    ("x² ½ ﬁne", ["x", "##²", "½", "ﬁ", "##ne"]),
    ("“quoted” – dash…", ["“", "quoted", "”", "–", "dash", "…"]),
    ("zero\u200bwidth nb\u00a0sp", ["zero", "##wi", "##dt", "##h", "n", "##b", "sp"]),
    ("tab\tnew\nline\x0bvt\x00nul\x7fdel", ["tab", "new", "line", "##v", "##t", "##nu", "##lde", "##l"]),
    ("$1,299.99 for_you", ["$", "1", ",", "299", ".", "99", "for", "_", "you"]),
    ("e-mail: a.b@c.de", ["e", "-", "mail", ":", "a", ".", "b", "@", "c", ".", "de"]),
    ("don't", ["don", "'", "t"]),
    ("C++ and F#", ["c", "+", "+", "and", "f", "#"]),
    ("\u037e", [";"]),
    ("😀 ok", ["[UNK]", "ok"]),
    ("ß ẞ ａｂｃ", ["ß", "ß", "[UNK]"]),
    ("a" * 101 + " ok", ["[UNK]", "ok"]),
    ("a\uffc9b", ["[UNK]"]),
    ("", []),
    ("   ", []),
]


@pytest.fixture(scope="module")
def vocabulary() -> dict[str, int]:
    return ModelFolder(DEFAULT).vocabulary()


@pytest.mark.parametrize(("text", "pieces"), GOLDEN)
def test_a_text_gets_the_pieces_of_the_reference(vocabulary: dict[str, int], text: str, pieces: list[str]) -> None:
    assert WordPiece(vocabulary).encode(text, 512) == [vocabulary[piece] for piece in pieces]


def test_the_longest_word_is_still_split(vocabulary: dict[str, int]) -> None:
    assert len(WordPiece(vocabulary).encode("a" * 100, 512)) == 50


def test_encode_respects_the_limit(vocabulary: dict[str, int]) -> None:
    assert len(WordPiece(vocabulary).encode("unaffable " * 10, 5)) == 5


def test_ascii_takes_a_shorter_way_to_the_same_words() -> None:
    text = "".join(map(chr, range(128))) + " Some TEXT, with_marks\tand\x0blines."
    assert words(text) == words(text + " é")[:-1]


def test_a_special_token_in_a_text_is_plain_characters(vocabulary: dict[str, int]) -> None:
    assert vocabulary["[SEP]"] not in WordPiece(vocabulary).encode("[SEP]", 512)


def test_a_lone_surrogate_is_dropped(vocabulary: dict[str, int]) -> None:
    assert WordPiece(vocabulary).encode("ok\udc80", 512) == [vocabulary["ok"]]
