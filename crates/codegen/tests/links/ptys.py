"""Two terminals, each the other end of the other: prints their names and copies bytes until its input ends."""

import os
import pty
import selectors
import sys
import tty

ends = [pty.openpty() for _ in range(2)]
for _, device in ends:
    tty.setraw(device)
print(*(os.ttyname(device) for _, device in ends), flush=True)
selector = selectors.DefaultSelector()
selector.register(sys.stdin, selectors.EVENT_READ, None)
for (file, _), (other, _) in (ends, ends[::-1]):
    selector.register(file, selectors.EVENT_READ, other)
while True:
    for key, _ in selector.select():
        if key.data is None:
            sys.exit()
        data = os.read(key.fd, 4096)
        while data:
            data = data[os.write(key.data, data) :]
