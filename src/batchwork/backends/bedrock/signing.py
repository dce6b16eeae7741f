"""Signs calls for AWS with what botocore finds: its own chain of credentials, asked when the first call is made.

The one place that imports botocore, an extra: `pip install 'batchwork[bedrock]'`.
"""

import asyncio
from typing import Any

from yarl import URL

from batchwork.core.errors import BackendError, ConfigError
from batchwork.core.failure import Failure, FailureKind

_SERVICE = "bedrock"
SESSION_HEADER = "x-amz-security-token"
_SIGNED = ("authorization", "x-amz-date", SESSION_HEADER)


def _session() -> Any:
    try:
        import botocore.session  # noqa: PLC0415 (an extra)
    except ImportError:
        raise ConfigError("bedrock: needs botocore: pip install 'batchwork[bedrock]'") from None
    return botocore.session.Session()


def region_of_environment() -> str | None:
    """The region that botocore's own settings name; a ConfigError where they cannot be read."""
    session = _session()
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 (an extra)

    try:
        region = session.get_config_variable("region")
    except BotoCoreError as error:
        raise ConfigError(f"bedrock: AWS's settings cannot be read: {error}") from error
    return None if region is None else str(region)


class Signer:
    """Signs the calls of one backend in one region; credentials that end are renewed by botocore."""

    def __init__(self, region: str) -> None:
        self._region = region
        self._session = _session()
        self._credentials: Any = None
        self._lock = asyncio.Lock()

    async def headers(self, url: URL, body: bytes) -> dict[str, str]:
        """The headers that sign one call; without credentials, a `BackendError` of the kind `auth`."""
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415 (an extra)

        try:
            if self._credentials is None:
                async with self._lock:
                    self._credentials = await asyncio.to_thread(self._session.get_credentials)
            if self._credentials is not None:
                return await asyncio.to_thread(self._sign, url, body)
        except BotoCoreError as error:
            # Its name alone: the text may repeat what a program that hands out credentials has said.
            raise _no_credentials(f"AWS credentials cannot be had ({type(error).__name__})") from None
        raise _no_credentials("no AWS credentials")

    def _sign(self, url: URL, body: bytes) -> dict[str, str]:
        from botocore.auth import SigV4Auth  # noqa: PLC0415 (an extra)
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415

        request = AWSRequest("POST", str(url), data=body, headers={"content-type": "application/json"})
        frozen = self._credentials.get_frozen_credentials()  # which may ask AWS for new ones
        SigV4Auth(frozen, _SERVICE, self._region).add_auth(request)
        signed = {name.lower(): str(value) for name, value in request.headers.items()}
        return {name: signed[name] for name in _SIGNED if name in signed}


def _no_credentials(problem: str) -> BackendError:
    remedy = "set them as for any AWS program (variables, a profile, a role)"
    return BackendError(Failure(kind=FailureKind.AUTH, message=f"{problem}: {remedy}"))
