"""The exceptions of the package, in the order of everseen.h's statuses."""

from typing import Optional

from . import _everseen


class Error(Exception):
    """What can go wrong with a filter. After a failed batch, `verdicts` has an UNKNOWN for each key without an answer;
    adding those keys again is safe."""

    verdicts: Optional[bytearray] = None


class InvalidError(Error, ValueError):
    """A name, number or URL is invalid, or the filter can never take a key."""


class NotFoundError(Error, LookupError):
    """No filter has this name, or it has expired."""


class NameTakenError(Error):
    """A filter of this name exists."""


class FullError(Error):
    """The filter was created with growth="refuse" and is full."""


class StorageError(Error, OSError):
    """A file cannot be read or written, or another process is writing to it."""


class BackendError(Error, ConnectionError):
    """A server does not answer, or refuses."""


class DamagedError(Error):
    """Stored or received bytes are damaged."""


_everseen.set_errors((Error, InvalidError, NotFoundError, NameTakenError, FullError, StorageError, BackendError,
                      DamagedError, MemoryError, Error))
