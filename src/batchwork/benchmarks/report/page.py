"""`report.html`: the report and its charts in one file that needs no network. Imported only when charts are wanted.

It is the Markdown report, in which every picture is replaced by the chart itself. The drawing stands in the page, and
becomes interactive where scripts may run.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

import msgspec
import vl_convert
from markdown_it import MarkdownIt
from markdown_it.token import Token

_STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; display: block; overflow-x: auto; }
th, td { padding: 0.25rem 0.6rem; border-bottom: 1px solid #e5e5e5; }
th { background: #f6f6f6; text-align: left; }
blockquote { border-left: 4px solid #d55e00; margin: 1rem 0; padding: 0.2rem 1rem; background: #fff6f0; }
.chart { display: block; }
.chart svg { max-width: 100%; height: auto; }
"""
_ALIVE = """\
for (const [name, spec] of Object.entries(charts))
  vegaEmbed('#chart-' + name, spec, {actions: false, renderer: 'svg'});
"""


@cache
def library() -> str:
    """The script that draws the charts of a page, in full. Making it takes longer than all the rest of a report."""
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return bundle


def render_page(title: str, markdown: str, drawings: Mapping[str, str], specs: Mapping[str, Any], library: str) -> str:
    """The page; `drawings` are the charts as SVG by the place of their picture, `specs` as Vega-Lite by name.

    `library` is the script that draws them, in full.
    """
    body = _reader(drawings).render(markdown)
    charts = msgspec.json.encode(specs).decode().replace("<", "\\u003c")  # nothing may end the script but its own tag
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title>\n<style>\n{_STYLE}</style>\n</head>\n<body>",
            body,
            f"<script>\n{library}\n</script>",
            f"<script>\nconst charts = {charts};\n{_ALIVE}</script>\n</body>\n</html>\n",
        )
    )


def _reader(drawings: Mapping[str, str]) -> MarkdownIt:
    """A reader of Markdown that lets no markup through, and puts drawings in the place of pictures."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")

    def image(_self: object, tokens: Sequence[Token], at: int, _options: object, _env: object) -> str:
        place = str(tokens[at].attrs["src"])
        name = place.rpartition("/")[2].partition(".")[0]
        return f'<span class="chart" id="chart-{escape(name)}">{drawings[place]}</span>'

    reader.add_render_rule("image", image)
    return reader
