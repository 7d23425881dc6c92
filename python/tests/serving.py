"""A server on loopback with HEAD and Range, as stores have them; it counts what it sends."""

import contextlib
import http.server
import os
import threading


class RangeHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files of a directory, whole or in ranges."""

    def do_GET(self):
        self.answer(body=True)

    def do_HEAD(self):
        self.answer(body=False)

    def answer(self, *, body):
        try:
            data = open(self.translate_path(self.path), "rb").read()
        except OSError:
            return self.send_error(404)
        wanted, length = self.headers.get("Range"), len(data)
        if wanted:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            start = int(first) if first else max(0, length - int(last))
            end = min(int(last), length - 1) if first and last else length - 1
            data = data[start : end + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{end}/{length}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"one"')
        self.end_headers()
        if body:
            if self.server.meeting is not None:
                self.server.meeting.wait()
            self.server.sent += len(data)
            self.wfile.write(data)
        return None

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def serving(directory):
    """The server, with ``url`` and ``sent``, the bytes of all answers; answers wait for each other at ``meeting``."""
    handler = lambda *args: RangeHandler(*args, directory=os.fspath(directory))  # noqa: E731
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.sent, server.meeting, server.url = 0, None, f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
