"""What the environment says: where Ollama answers, as its own client reads it."""

from __future__ import annotations

from collections.abc import Mapping

from core.pipeline.config.parts import DEFAULT_ENDPOINT
from core.pipeline.config.values import LONGEST_TEXT, web_address
from core.pipeline.config.warnings import ConfigurationWarning, WarningKind, shown

VARIABLE = "OLLAMA_HOST"
_PORT = 11434
# Addresses that a server listens on; a client reaches it on its own machine.
_EVERYWHERE = ("0.0.0.0", "[::]")


def ollama_endpoint(environ: Mapping[str, str]) -> tuple[str, ConfigurationWarning | None]:
    """The address in OLLAMA_HOST, "" when it is not set; a warning when it is none.

    Forms: `host`, `host:port`, `:port`, `[ipv6]:port`, each with or without http:// or https://. Without a port it is
    11434, with a scheme and no port that of the scheme.
    """
    text = environ.get(VARIABLE, "").strip().strip("\"'").strip()
    if not text:
        return "", None
    address = _address(text) if len(text) <= LONGEST_TEXT and text.isprintable() else ""
    if address:
        return address, None
    warning = ConfigurationWarning(
        "extraction.endpoint", shown(text), DEFAULT_ENDPOINT, WarningKind.UNFIT_TEXT, "host:port", VARIABLE
    )
    return "", warning


def _address(text: str) -> str:
    scheme, separator, rest = text.partition("://")
    if not separator:
        scheme, rest = "http", text
    host, slash, path = rest.partition("/")
    if host.startswith(":") and not host.startswith("::"):
        host = "localhost" + host
    if host.count(":") > 1 and not host.startswith("["):
        host = f"[{host}]"
    after_name = host.rpartition("]")[2]
    if not separator and ":" not in after_name:
        host = f"{host}:{_PORT}"
    for everywhere in _EVERYWHERE:
        if host == everywhere or host.startswith(everywhere + ":"):
            host = ("127.0.0.1" if everywhere == "0.0.0.0" else "[::1]") + host[len(everywhere) :]
    return web_address(f"{scheme.lower()}://{host}{slash}{path}")
