"""S3 on this machine, by moto, with an empty bucket `history`.

    server.py [--forgetful]              prints its address, and ends when its input does
    server.py [--forgetful] COMMAND..    runs a command with the environment that leads to it

moto looks whether an object is there, and then writes, so it answers one request after the other: only so are both one
step, as they are at S3. A forgetful server heeds no `If-None-Match`, as some storage does that is like S3.
"""

import logging
import os
import subprocess
import sys
import threading
import urllib.request

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

command = sys.argv[1:]
forgetful = command[:1] == ["--forgetful"]
command = command[forgetful:]
moto = DomainDispatcherApplication(create_backend_app)


def application(environ, start_response):
    if forgetful:
        environ.pop("HTTP_IF_NONE_MATCH", None)
    return moto(environ, start_response)


logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = make_server(
    "127.0.0.1", 0, application, threaded=False, request_handler=MotoRequestHandler
)
address = f"http://127.0.0.1:{server.server_port}"
threading.Thread(target=server.serve_forever, daemon=True).start()
urllib.request.urlopen(
    urllib.request.Request(f"{address}/history", method="PUT"), timeout=60
).close()

if command:
    leads_here = {
        "AWS_ENDPOINT_URL": address,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "somebody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
    }
    sys.exit(subprocess.run(command, env=os.environ | leads_here).returncode)
print(address, flush=True)
sys.stdin.read()
