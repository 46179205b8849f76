"""The typed client of Agent Mailbox: real mailboxes for software agents, with signed webhooks."""

from . import models
from ._async.device_sign_in_client import AsyncDeviceSignInClient
from ._async.mailbox_client import AsyncMailboxClient
from ._async.organization_client import AsyncOrganizationClient
from ._async.paged_list import AsyncPagedList
from ._attachment import attachment
from ._download import Download
from ._errors import (
    AgentMailboxError,
    ApiError,
    AuthenticationError,
    BadRequestError,
    ConflictError,
    ConnectionFailedError,
    ErrorDetail,
    InvalidClientError,
    NoAnswerError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    RequestTimeoutError,
    ServiceError,
)
from ._page import Page
from ._request import NOT_GIVEN, NotGiven
from ._sync.device_sign_in_client import DeviceSignInClient
from ._sync.mailbox_client import MailboxClient
from ._sync.organization_client import OrganizationClient
from ._sync.paged_list import PagedList
from ._webhooks import WebhookKey, WebhookVerificationError, sign_webhook, verify_webhook

__version__ = "0.1.0"

__all__ = [
    "NOT_GIVEN",
    "AgentMailboxError",
    "ApiError",
    "AsyncDeviceSignInClient",
    "AsyncMailboxClient",
    "AsyncOrganizationClient",
    "AsyncPagedList",
    "AuthenticationError",
    "BadRequestError",
    "ConflictError",
    "ConnectionFailedError",
    "DeviceSignInClient",
    "Download",
    "ErrorDetail",
    "InvalidClientError",
    "MailboxClient",
    "NoAnswerError",
    "NotFoundError",
    "NotGiven",
    "OrganizationClient",
    "Page",
    "PagedList",
    "PermissionDeniedError",
    "RateLimitError",
    "RequestTimeoutError",
    "ServiceError",
    "WebhookKey",
    "WebhookVerificationError",
    "attachment",
    "models",
    "sign_webhook",
    "verify_webhook",
]
