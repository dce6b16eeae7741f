"""Prompt templates in the language of Jinja, for prompts with conditions and loops; the one place that imports it.

`{{ column }}` is a column's value, which reads as it does in a plain template, and `row` is the whole row, for names
that are no words (`{{ row["first name"] }}`). The environment is a sandbox, and has no other files. What goes wrong
while a row is rendered is that row's error.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from batchwork.core.errors import ConfigError, InputError
from batchwork.tables.cells import cell_text
from batchwork.tables.template import Field

# What an expression of a template can raise on a row, beside Jinja's own errors.
_OF_EXPRESSIONS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError, MemoryError)
_FORGIVING = frozenset({"default", "d"})
_ASKING = frozenset({"defined", "undefined"})
_ROW = "row"


class JinjaTemplate:
    """A prompt in the language of Jinja, parsed once and rendered for every row."""

    def __init__(self, text: str, name: str = "the template") -> None:
        """Parse the template; a ConfigError names the line that is wrong, or says that Jinja is not installed."""
        try:
            jinja, meta, nodes = (import_module(part) for part in ("jinja2", "jinja2.meta", "jinja2.nodes"))
            sandbox = import_module("jinja2.sandbox").ImmutableSandboxedEnvironment
        except ImportError as error:
            raise ConfigError("Jinja templates need Jinja2: pip install 'batchwork[tables]'") from error
        # Prompts are no HTML: nothing is escaped.
        environment = sandbox(autoescape=False, undefined=jinja.StrictUndefined, finalize=_finished)
        try:
            tree = environment.parse(text)
            self._template = environment.from_string(text)
        except jinja.TemplateSyntaxError as error:
            raise ConfigError(f"{name}, line {error.lineno}: {error.message}") from error
        if next(iter(meta.find_referenced_templates(tree)), tree) is not tree:
            raise ConfigError(f"{name} includes, imports or extends another file, which a sandbox has not")
        self.text = text
        needed = meta.find_undeclared_variables(tree) - environment.globals.keys() - {_ROW}
        self.fields = tuple(Field(each, (each,)) for each in sorted(needed - set(_optional(tree, nodes))))
        self._errors = (jinja.TemplateError, *_OF_EXPRESSIONS)

    def render(self, columns: Mapping[str, Any]) -> str:
        """The prompt for one row; an InputError says what went wrong on it."""
        try:
            text: str = self._template.render({_ROW: columns, **columns})
        except self._errors as error:
            raise InputError(f"the template fails on this row: {type(error).__name__}: {error}") from error
        return text


def _finished(value: Any) -> Any:
    return value if isinstance(value, str) else cell_text(value)


def _optional(tree: Any, nodes: Any) -> Iterator[str]:
    """The variables that a template gives a default, or asks whether they are there."""
    for kind, names in ((nodes.Filter, _FORGIVING), (nodes.Test, _ASKING)):
        for node in tree.find_all(kind):
            if node.name in names and isinstance(node.node, nodes.Name):
                yield node.node.name
