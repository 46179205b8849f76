"""
Makes ``agent_mailbox/_sync`` of ``_async``: the same client for programs without an event loop.

Every build runs it, also that of ``pip install -e``. To run it alone: ``python hatch_build.py``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:
    BuildHookInterface = object

PACKAGE = Path(__file__).parent / "src" / "agent_mailbox"
HEADER = "# Made of _async by hatch_build.py; do not edit.\n"
REPLACED = [
    (r"(?m)^import anyio\n\n(?![\s\S]*\banyio\.sleep\b)", ""),
    (r"\bawait anyio\.open_file\((\w+), ", r"\1.open("),
    (r"\basync (def|for|with) ", r"\1 "),
    (r"\bawait ", ""),
    (r"\bAsync(Iterator|Generator|Iterable)\b", r"\1"),
    (r"\bhttpx\.AsyncClient\b", "httpx.Client"),
    (r"\bAsync([A-Z]\w*)", r"\1"),
    (r"\b__a(enter|exit|iter)__\b", r"__\1__"),
    (r"\ba(close|read|iter_lines|iter_bytes)\(", r"\1("),
    (r"\banyio\.sleep\b", "time.sleep"),
    (r"(?m)^import anyio$", "import time"),
    (r"\basynccontextmanager\b", "contextmanager"),
    (r"\b_async\b", "_sync"),
]


def synchronous(text: str) -> str:
    """The same without ``async``."""
    for pattern, other in REPLACED:
        text = re.sub(pattern, other, text)
    return HEADER + text


def write_synchronous() -> None:
    """Writes only what differs. Files appear whole, as other processes may do the same or import them."""
    target = PACKAGE / "_sync"
    target.mkdir(exist_ok=True)
    files = {file.name: synchronous(file.read_text("utf-8")) for file in (PACKAGE / "_async").glob("*.py")}
    for name, text in files.items():
        file = target / name
        if not file.exists() or file.read_text("utf-8") != text:
            unfinished = target / f"{name}.{os.getpid()}"
            unfinished.write_text(text, "utf-8")
            unfinished.replace(file)
    for file in target.glob("*.py"):
        if file.name not in files:
            file.unlink(missing_ok=True)


class SynchronousClient(BuildHookInterface):  # type: ignore[misc]
    """The builder calls it before it collects files."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        write_synchronous()


if __name__ == "__main__":
    write_synchronous()
