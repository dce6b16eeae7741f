"""The words of an error on the command line: options by the names that they have there.

Errors name options as Python does (`max_tokens`), because every door raises the same ones. Here each becomes the option
of the command at hand (`--max-tokens`), where it has such a one.
"""

import re
from collections.abc import Iterable

# What the parts of a server call things that its command calls otherwise.
_OTHERWISE = {
    "head_s": "head_timeout",
    "slow_s": "slow_timeout",
    "least_bytes_per_s": "least_rate",
    "max_body_bytes": "max_body",
    "max_open_bytes": "max_open",
    "grace_s": "grace",
    "max_cost": "max_cost_per_day",
}
_NAME = re.compile(r"(?<![\w'\"{./$=-])[a-z]+(?:_[a-z]+)+(?![\w'\"=(])")
_FIRST = re.compile(r"^[a-z]+(?= must | is |: )")
# The same in Python's words, which stands behind it; and a key as an argument, which others could read in a command.
_IN_PYTHON = re.compile(r" \((?:in Python )?\w+=(?:'[^']*'|\([^)]*\))\)|, or pass api_key\b")


def in_options(text: str, options: Iterable[str]) -> str:
    """The text with the names of Python replaced by those of the command line; `options` are the command's."""
    known = frozenset(options)

    def option(found: re.Match[str]) -> str:
        name = found[0] if found[0] in known else _OTHERWISE.get(found[0], "")
        return f"--{name.replace('_', '-')}" if name in known else found[0]

    return _FIRST.sub(option, _NAME.sub(option, _IN_PYTHON.sub("", text)))
