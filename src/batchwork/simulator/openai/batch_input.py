"""Validate a batch's input file line by line, as the provider does after the create call."""

from typing import Any, NamedTuple

import msgspec

from batchwork.simulator.config import SimulatorConfig

_MOST_ERRORS = 50


class InputLine(NamedTuple):
    """One request of the file."""

    custom_id: str
    body: Any


def read_input(content: bytes, endpoint: str, config: SimulatorConfig) -> tuple[list[InputLine], list[dict[str, Any]]]:
    """The requests of a file and what is wrong with it; any error fails the whole batch before it runs."""
    lines: list[InputLine] = []
    errors: list[dict[str, Any]] = []
    seen: set[str] = set()
    models: set[str] = set()

    def wrong(code: str, message: str, number: int | None = None, param: str | None = None) -> None:
        errors.append({"code": code, "line": number, "message": message, "param": param})

    for number, raw in enumerate(content.split(b"\n"), start=1):
        if not raw.strip() or len(errors) >= _MOST_ERRORS:
            continue
        try:
            line = msgspec.json.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            wrong("invalid_json_line", "This line is not parseable as valid JSON.", number)
            continue
        if not isinstance(line, dict) or not isinstance(line.get("custom_id"), str) or not line["custom_id"]:
            wrong("missing_required_parameter", "Missing required parameter: 'custom_id'.", number, "custom_id")
            continue
        if line["custom_id"] in seen:
            wrong(
                "duplicate_custom_id",
                f"The custom_id '{line['custom_id']}' is used more than once.",
                number,
                "custom_id",
            )
        seen.add(line["custom_id"])
        if line.get("method") != "POST":
            wrong("invalid_method", f"Invalid method '{line.get('method')}': expected 'POST'.", number, "method")
        if line.get("url") != endpoint:
            wrong(
                "mismatched_url",
                f"The url '{line.get('url')}' does not match the batch endpoint '{endpoint}'.",
                number,
                "url",
            )
        if not isinstance(line.get("body"), dict):
            wrong("missing_required_parameter", "Missing required parameter: 'body'.", number, "body")
            continue
        models.add(str(line["body"].get("model")))
        if len(models) > 1:
            wrong("mismatched_model", "All requests of a batch must use the same model.", number, "body.model")
        lines.append(InputLine(line["custom_id"], line["body"]))
    if not lines and not errors:
        wrong("empty_file", "The input file is empty.")
    if len(lines) > config.max_file_requests:
        wrong("too_many_requests", f"The input file has {len(lines)} requests, at most {config.max_file_requests}.")
    return lines, errors
