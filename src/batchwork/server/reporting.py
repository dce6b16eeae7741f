"""What the log says about a request: counts, times and money. Texts only when the operator asked for them."""

from __future__ import annotations

from typing import Any

from batchwork.server.desk import Ask, Taken


def facts(taken: Taken, ask: Ask, *, log_text: bool) -> dict[str, Any]:
    """The fields of the request's log line."""
    summary = taken.summary
    told: dict[str, Any] = {
        "prompts": len(taken.answers),
        "completed": summary.completed,
        "failed": summary.failed,
        "total_s": summary.total_s,
        "average_s": summary.average_s,
        "first_result_s": summary.first_result_s,
        "cost_usd": summary.cost_usd,
    }
    codes: dict[str, int] = {}
    for answer in taken.answers:
        if answer.error_code is not None:
            codes[answer.error_code] = codes.get(answer.error_code, 0) + 1
    if codes:
        told["error_codes"] = codes
    if taken.client_left:
        told["client_left"] = True
    if log_text:
        told["texts"] = [
            {"asked": prompt.request.messages[-1].content if prompt.request else None, "answered": answer.response}
            for prompt, answer in zip(ask.prepared, taken.answers, strict=True)
        ]
    return told
