"""The server: tools, the briefing as a resource and the prompt, spoken over standard input and output.

The protocol's loop only passes messages on. What the engine does is done in threads: reads beside each other, changes
one after the other.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import unquote

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from core.errors import NuggetsError
from nuggets_tui.mcp.errors import ToolError
from nuggets_tui.mcp.guide import INSTRUCTIONS, RECALL_FIRST, RECALL_FIRST_ABOUT, recall_first
from nuggets_tui.mcp.session import AgentSession
from nuggets_tui.mcp.shapes import as_meant, input_schema, output_schema
from nuggets_tui.mcp.tools import TOOLS, Told, Tool, version_of_product
from nuggets_tui.mcp.wire import pass_on, standard_input, whole
from nuggets_tui.safe_text import plain

if TYPE_CHECKING:
    from core.model.change import Author

_T = TypeVar("_T")
_Context = ServerRequestContext[Any, Any]
NAME: Final = "nuggets"
BRIEFING: Final = "nuggets://briefing"
_MARKDOWN: Final = "text/markdown"
# Reads that run at once: an agent asks several things in one go, and each takes a core.
_READS: Final = 4
_BY_NAME: Final = {tool.name: tool for tool in TOOLS}


class NuggetsServer:
    """The memory of one folder as a server for one agent at the other end."""

    def __init__(self, session: AgentSession) -> None:
        self.session = session
        self._reads = anyio.CapacityLimiter(_READS)
        self._writes = anyio.CapacityLimiter(1)
        self._background = anyio.CapacityLimiter(1)
        self._tasks: anyio.abc.TaskGroup | None = None
        self._prepared = False
        self._tools = [_described(tool) for tool in TOOLS]

    def protocol(self) -> Server[Any]:
        """The server as the SDK runs it."""
        return Server(
            NAME,
            version=version_of_product(),
            title="nuggets: long-term memory",
            instructions=INSTRUCTIONS,
            lifespan=self._lifespan,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    @asynccontextmanager
    async def _lifespan(self, _: Server[Any]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                tasks.cancel_scope.cancel()
        await anyio.to_thread.run_sync(self.session.close)

    # Tools

    async def _list_tools(
        self, context: _Context, _: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        self._identify(context)
        if not self._prepared and self._tasks is not None:
            # Who asks for the tools will soon call one.
            self._prepared = True
            self._tasks.start_soon(self._prepare)
        return types.ListToolsResult(tools=self._tools)

    async def _prepare(self) -> None:
        await anyio.to_thread.run_sync(self.session.prepare, limiter=self._background)

    async def _call_tool(
        self, context: _Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        self._identify(context)
        tool = _BY_NAME.get(params.name)
        if tool is None:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {plain(params.name[:100])}")
        try:
            meant = as_meant(params.arguments or {}, input_schema(tool.takes))
            given = tool.takes.model_validate(meant)
        except ValidationError as error:
            return ToolError.of_arguments(tool.name, error).result()
        limiter = self._writes if tool.writes else self._reads
        try:
            return await anyio.to_thread.run_sync(_answered, tool, self.session, given, limiter=limiter)
        except ToolError as error:
            return error.result()

    # The briefing

    async def _list_resources(
        self, context: _Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        self._identify(context)
        briefing = types.Resource(
            uri=BRIEFING,
            name="briefing",
            title="Session briefing",
            description="What matters most for a new session: what is often recalled, then the best notes by scope.",
            mime_type=_MARKDOWN,
        )
        return types.ListResourcesResult(resources=[briefing])

    async def _list_templates(
        self, context: _Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        self._identify(context)
        template = types.ResourceTemplate(
            uri_template=f"{BRIEFING}/{{nugget}}",
            name="briefing-of-nugget",
            title="Session briefing for one nugget",
            description="The same for the project of one nugget.",
            mime_type=_MARKDOWN,
        )
        return types.ListResourceTemplatesResult(resource_templates=[template])

    async def _read_resource(
        self, context: _Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        self._identify(context)
        uri = str(params.uri)
        nugget = _nugget_in(uri)
        text = await self._engine(lambda: self._briefing(nugget))
        contents = types.TextResourceContents(uri=uri, mime_type=_MARKDOWN, text=plain(text))
        return types.ReadResourceResult(contents=[contents])

    def _briefing(self, nugget: str | None) -> str:
        if nugget:
            snapshot = self.session.reading().snapshot
            if nugget not in snapshot.nugget_names:
                raise snapshot.no_nugget(nugget)
        return self.session.briefing(nugget).text

    # The prompt

    async def _list_prompts(
        self, context: _Context, _: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        self._identify(context)
        task = types.PromptArgument(name="task", description="What is to be done now.", required=False)
        prompt = types.Prompt(
            name=RECALL_FIRST, title="Recall first", description=RECALL_FIRST_ABOUT, arguments=[task]
        )
        return types.ListPromptsResult(prompts=[prompt])

    async def _get_prompt(
        self, context: _Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        self._identify(context)
        if params.name != RECALL_FIRST:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt: {plain(params.name[:100])}")
        text = recall_first((params.arguments or {}).get("task", ""))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=plain(text)))
        return types.GetPromptResult(description=RECALL_FIRST_ABOUT, messages=[message])

    def _identify(self, context: _Context) -> None:
        """Changes are put down to the program that says it is at the other end."""
        client = context.session.client_params
        if client is not None:
            self.session.identify(client.client_info.name)

    async def _engine(self, call: Callable[[], _T]) -> _T:
        """What the engine says, in a thread; its errors as errors of the protocol."""
        try:
            return await anyio.to_thread.run_sync(call, limiter=self._reads)
        except NuggetsError as error:
            told = ToolError.of(error)
        except OSError as error:
            told = ToolError.of_system(error)
        raise MCPError(code=types.INVALID_PARAMS, message=plain(f"{told.code}: {told.what}; {told.todo}"))


def _answered(tool: Tool, session: AgentSession, given: Any) -> types.CallToolResult:
    """A call, in a thread. Raises ToolError for whatever goes wrong."""
    try:
        told: Told = tool.run(session, given)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=plain(told.text))],
            structured_content=whole(told.answer.model_dump(by_alias=True, exclude_defaults=True)),
        )
    except NuggetsError as error:
        raise ToolError.of(error) from error
    except OSError as error:
        raise ToolError.of_system(error) from error
    except Exception as error:
        raise ToolError.of_bug(error) from error


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool.takes),
        output_schema=output_schema(tool.answers),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _nugget_in(uri: str) -> str | None:
    """The nugget that the address of a briefing names, None for that of the project here. Raises MCPError."""
    if uri.rstrip("/") == BRIEFING:
        return None
    name = unquote(uri.removeprefix(f"{BRIEFING}/"))
    if not uri.startswith(f"{BRIEFING}/") or not name or "/" in name:
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown resource: {plain(uri[:200])}")
    return name


def serve(home: Path, author: Author | None = None) -> None:
    """Serves the memory of a folder to one agent until it closes standard input. author: see `AgentSession`.

    Raises BrokenPipeError where the agent reads no answers any more. An interrupt ends the process at once, as a
    termination does: the thread that waits for input cannot be stopped, and what was being written is finished or
    undone at the next opening.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    async def run() -> None:
        protocol = NuggetsServer(AgentSession(home, author=author)).protocol()
        asked, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        async with (
            stdio_server(stdin=anyio.wrap_file(StringIO())) as (_, sent),
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(pass_on, standard_input(), asked, sent)
            await protocol.run(received, sent, protocol.create_initialization_options())

    gone = False
    try:
        anyio.run(run)
    except* BrokenPipeError:
        gone = True
    if gone:
        # The agent closed the pipe without a word: nobody is there to be answered.
        raise BrokenPipeError
