"""Names: what is equal to a search, and which alternative names are worth keeping."""

import unicodedata

# Letters that are not a letter with a mark.
LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th"})

APOSTROPHES = "ʻʼʿʾʹʺ’‘'`"


def fold(name: str) -> str:
    """The name without case, marks and punctuation, as the service folds what it is asked for."""
    marked = unicodedata.normalize("NFKD", name.lower())
    plain = "".join(c for c in marked if not unicodedata.category(c).startswith("M") and c not in APOSTROPHES)
    plain = plain.translate(LETTERS)
    return " ".join("".join(c if c.isalnum() else " " for c in plain).split())


def distinct(names: list[str]) -> list[str]:
    """The names without those that are equal to one before them, and without what is no name."""
    kept: dict[str, str] = {}
    for name in names:
        folded = fold(name)
        if folded and len(name) <= 80 and "\n" not in name and "\0" not in name:
            kept.setdefault(folded, name)
    return list(kept.values())


def is_latin(name: str) -> bool:
    return all(not c.isalpha() or "LATIN" in unicodedata.name(c, "") for c in name)
