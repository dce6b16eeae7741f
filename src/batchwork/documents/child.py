"""The entry of a process that reads documents.

It is started by path, with an interpreter that looks neither at the environment nor at the working folder, and brings
in the readers alone: the packages above them are there by name only, so that nothing of theirs is run. It ends with
its input, that is to say with whoever started it.
"""

import os
import select
import sys
import threading
import types
from pathlib import Path


def _stand_in_for_packages() -> None:
    """Make our modules importable without running the packages they lie in."""
    folder = Path(__file__).resolve().parent
    for name, path in (("batchwork", folder.parent), ("batchwork.documents", folder)):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package


def _end_with_input() -> None:
    """End at once, even in the middle of a document, when whoever started us is gone."""

    def wait() -> None:
        poll = select.poll()
        poll.register(0, 0)  # nothing but the hang-up
        poll.poll()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Keep input and output for the protocol, so that nothing else is ever written to them."""
    sys.path.extend(sys.argv[1:])
    _stand_in_for_packages()
    sink = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _end_with_input()
    from batchwork.documents.child_loop import serve  # noqa: PLC0415 - importable from here on

    serve(0, sink)


if __name__ == "__main__":
    main()
