"""Long runs of encoded data that look random."""

# The patterns read as the tables that they are.
# ruff: noqa: E501, SIM905

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from core.text.secret_shapes import Span
from core.text.secret_values import any_of, entropy, is_placeholder, is_wordy

# As much of a run as is weighed.
_HEAD: Final = 120
# Bits a character. Random base64 of 32 signs lies above 4, words and numbers joined below.
_RANDOM: Final = 3.5
# Of signs that look random there must be so many.
_LEAST_RANDOM: Final = 16
# Where so many random runs stand it is data: from then on each that is no digest counts, wherever it stands.
_MOST_WEIGHED: Final = 5_000
_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{32,}+={0,2}")
_MIXED: Final = re.compile(r"(?=.*\d)(?=.*[A-Za-z])")
_HEX: Final = re.compile(r"(?:[A-Za-z]+\d*[-_=])?(?:[0-9a-fA-F-]+|0[xX][0-9a-fA-F]+)")
_JOINT: Final = re.compile(r"[-_/+=]+")
_PLAIN_PART: Final = re.compile(r"[A-Za-z]{1,24}\d{0,4}|\d{1,10}[A-Za-z]{0,3}|[0-9a-f]{7,64}|")
# What is public by its own form: addresses of contents, keys of SSH that begin with the name of their kind, pictures.
_PUBLIC: Final = re.compile(
    r"/*(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,}|bc1[a-z0-9]{30,}|AAAA[A-Z]3[A-Za-z0-9+/=]+|(?:9j/|iVBORw0K|R0lGOD|UEsDB)[A-Za-z0-9+/=]+)"
)
# What a digest, a fingerprint, an identifier or embedded contents stand behind.
_LABELLED: Final = re.compile(
    r"""(?:sha-?\d{1,3}|md5|h1|blake\w*)[-:]$|
    base64,$|
    ["'](?!\w{0,9}sess)(?:\w{1,30}_)?id["']\s?:\s?["']$|
    \b(?:integrity|\w*hash\w*|digest|checksum|fingerprint|etag|cid|ulid|uuid|guid|cursor|commit|revision|rev|nonce|
    pub(?:lic)?[ _-]?key[\w\x20-]{0,20}|
    (?:version|request|trace|span|correlation|build|object|message|node|relay|global|page|public)[-_ ]?(?:id|key)s?)
    ["']?\s?(?:[=:]|\bis\b)?\s?["'`]?(?:W/")?$""",
    re.IGNORECASE | re.VERBOSE,
)
_LABEL: Final = re.compile(
    any_of(
        "sha md5 h1 blake base64 id hash integrity digest checksum fingerprint etag cid cursor commit rev nonce pub key".split()
    )
)
_LONGEST_LABEL: Final = 40
_DIGEST_HEAD: Final = re.compile(r"(?:sha\d{1,3}|md5|blake\w{0,3})-(?=[A-Za-z0-9+/]+={0,2}$)")
_PUBLIC_BLOCK: Final = re.compile(
    r"-----BEGIN (?:[A-Z0-9]+ )*(?:CERTIFICATE(?: REQUEST)?|PUBLIC KEY(?: BLOCK)?|SIGNATURE|MESSAGE)-----"
    r"(?:\\[nr\s]|[\sA-Za-z0-9+/=])*+"
)
_ADDRESS: Final = re.compile(r"\w://|^\W{0,3}(?:[\w-]{1,80}\.){1,8}[a-z]{2,20}/")
# Whoever knows such an address may do what it is for.
_CAPABILITY: Final = re.compile(
    r"hook|token|secret|signature|[?&;](?:sig|key|auth|code|pass\w*)=|/bot\d|/(?:invite|reset|magic|verify|confirm)\w*/",
    re.IGNORECASE,
)
_MAIL: Final = re.compile(r"@[\w-]{1,80}(?:\.[\w-]{1,80}){0,8}\.[a-z]{2,20}\b")
_PATH_BEGINS: Final = re.compile(r"(?:[\"'`(\[<=]|\w+=)*(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@+-]")


def long_runs(text: str) -> Iterator[Span]:
    """Start, end and kind of each long run that looks random, and is no digest, path, address, identifier or text in
    base64.
    """
    public = list(_PUBLIC_BLOCK.finditer(text)) if "-----BEGIN" in text else []
    begins = [block.start() for block in public]
    weighed = 0
    for run in _RUN.finditer(text):
        if _is_random(run[0], weighed < _MOST_WEIGHED):
            weighed += 1
            block = bisect_right(begins, run.start()) - 1
            in_public = block >= 0 and run.start() < public[block].end()
            if not (
                in_public
                or _is_line_of_many(text, *run.span())
                or (weighed < _MOST_WEIGHED and _is_placed(text, run.start(), run[0]))
            ):
                yield *run.span(), "random token"


def _is_line_of_many(text: str, start: int, end: int) -> bool:
    """Whether a run is one of several lines of the same length, as those of a file in base64 are."""
    size = end - start
    for beside in (text[max(0, start - size - 2) : start], text[end : end + size + 2]):
        line = beside.strip("\r\n")
        if line != beside and _RUN.fullmatch(line):
            return True
    return False


def _is_text(run: str) -> bool:
    """Whether it is base64 of a text that people read."""
    signs = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        said = binascii.a2b_base64(signs + "=" * (-len(signs) % 4)).decode()
    except ValueError:
        return False
    return said.replace("\n", "").isprintable()


def _is_random(run: str, weighed: bool = True) -> bool:
    """Whether a long run is encoded data: random enough, no digest, no joined words. weighed: False to look for digests
    alone.
    """
    if set(run.rstrip("=")) == {"A"}:
        # Zero bytes in base64: no digest, since a digest of that length has digits.
        return True
    head = run[:_HEAD]
    if not _MIXED.match(head) or _HEX.fullmatch(head):
        return False
    if not weighed:
        return True
    parts = _JOINT.split(head)
    if all(map(_PLAIN_PART.fullmatch, parts)) or _PUBLIC.fullmatch(run):
        return False
    if is_placeholder(run) or entropy(head) < _RANDOM or _is_text(run):
        return False
    parts = [part for part in parts if not _HEX.fullmatch(part)]
    random = sum(len(part) for part in parts if not is_wordy(part))
    return random >= _LEAST_RANDOM and 2 * random >= sum(map(len, parts))


def _is_placed(text: str, start: int, run: str) -> bool:
    """Whether where a run stands tells that it is none: behind the name of a digest or identifier, in a path or address."""
    label = text[max(0, start - _LONGEST_LABEL) : start]
    if _DIGEST_HEAD.match(run) or (_LABEL.search(label.lower()) and _LABELLED.search(label)):
        return True
    before = text[max(0, start - 400) : start]
    word = (before.rsplit(None, 1)[-1] if before and not before[-1].isspace() else "") + run[:400]
    if _MAIL.match(text, start + len(run)) and "://" not in word:
        return True
    if "/" not in word and "\\" not in word:
        return False
    if _ADDRESS.search(word):
        return not _CAPABILITY.search(word)
    named = [part for part in re.split(r"[/\\]", word) if len(part) > 2 and part.isascii() and is_wordy(part)]
    return len(named) >= 2 and (_PATH_BEGINS.match(word) is not None or 2 * sum(map(len, named)) >= len(word))
