"""A server made with FastMCP.

usage: fastmcp_server.py stdio | http PORT | sse PORT
"""

import sys

from fastmcp import Context, FastMCP

server = FastMCP("real")


@server.tool
def add(a: int, b: int) -> int:
    """Adds two integers."""
    return a + b


@server.tool
async def slow(steps: int, context: Context) -> str:
    """Reports progress that many times."""
    for step in range(steps):
        await context.report_progress(step + 1, steps)
    return "done"


if sys.argv[1] == "stdio":
    server.run(show_banner=False)
else:
    server.run(transport=sys.argv[1], host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
