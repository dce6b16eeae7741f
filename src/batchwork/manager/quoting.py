"""What is asked when the model is to quote: the user's request with its schema in the frame that holds the quotes."""

from dataclasses import dataclass
from typing import Any, Self

import msgspec

from batchwork.core.errors import ConfigError
from batchwork.core.intake import Intake
from batchwork.core.request import Request, Schema
from batchwork.schema import AnswerChecker, QuotedChecker, answer_schema, checker_of, is_quoted, quoted_schema
from batchwork.schema.quoted import INSTRUCTIONS


@dataclass(frozen=True, slots=True)
class Quoting:
    """Asks for quotes beside answers of one schema, and judges what comes by the answer alone."""

    plain: Schema
    framed: Schema

    @classmethod
    def of(cls, schema: Schema | None) -> Self:
        """For the schema of a job; ConfigError without one."""
        if schema is None:
            raise ConfigError('citations="quoted" needs the fields of an answer: give response_model= or schema=')
        return cls(schema, quoted_schema(schema))

    @classmethod
    def behind(cls, schema: Schema | None) -> Self | None:
        """The one that has asked for answers of this schema; None where no quotes were asked for."""
        return None if schema is None or not is_quoted(schema) else cls(answer_schema(schema), schema)

    def asked(self, request: Request) -> Request:
        """The request with quotes asked for; one with a schema of its own stays as it is."""
        if request.schema is None or request.schema.digest != self.plain.digest:
            return request
        system = f"{request.system}\n\n{INSTRUCTIONS}" if request.system else INSTRUCTIONS
        return msgspec.structs.replace(request, system=system, schema=self.framed)

    def intake(self, row: Intake) -> Intake:
        """The same for an input row, which becomes another one by it."""
        if row.request is None:
            return row
        request = self.asked(row.request)
        return Intake(fingerprint=request.fingerprint, request=request, columns=row.columns)

    def checker(self, model: Any) -> AnswerChecker:
        """The checker of answers with quotes, and of those about documents without text; a model's validators count."""
        if model is None:
            return AnswerChecker({self.framed.digest: QuotedChecker(checker_of(self.plain))})
        from batchwork.schema import ModelChecker  # noqa: PLC0415 - Pydantic is slow to import

        own = ModelChecker(model)
        return AnswerChecker({self.plain.digest: own, self.framed.digest: QuotedChecker(own)})
