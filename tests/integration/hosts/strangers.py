# SPDX-License-Identifier: Apache-2.0
"""What a network holds beside the recorders of a run: each has an address, and not the run's key.

usage: strangers.py scan READY              1,000 connections that say nothing, or nonsense
       strangers.py false READY HOST        a director that is none: says nothing, echoes, says nonsense
       strangers.py middle READY HOST       passes bytes on to the director, each frame twice, and says
                                            whole conversations again on connections of its own

WHYIO_DIRECTOR tells where the director is. READY is made, with the own port in it, when all is there.
"""
import os
import socket
import struct
import sys
import threading

HEAD, TAG = 24, 32
SCANNED = 1000


def director():
    """(address, port) of the first socket."""
    host, port = os.environ["WHYIO_DIRECTOR"].split("/")[4].split(",")[0].split("@")
    return host, int(port)


def ready(path, port=0):
    with open(path + ".tmp", "w", encoding="ascii") as file:
        file.write(str(port))
    os.rename(path + ".tmp", path)


def scan(path):
    nonsense = (b"", b"GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: scanner\r\n\r\n", bytes(200),
                struct.pack("<QIIQ", 0x00545350484f4957 | 2 << 56, 1, 108, 0) + bytes(140),
                struct.pack("<QIIQ", 0x00545350484f4957 | 2 << 56, 6, 200000, 0))
    connections = []
    for i in range(SCANNED):
        connections.append(socket.create_connection(director()))
        try:
            connections[-1].sendall(nonsense[i % len(nonsense)])
        except OSError:
            pass  # it was sent away meanwhile
        if i == SCANNED // 2:
            ready(path)  # the other half comes while the recorders do
    threading.Event().wait()


def listen(path, host):
    listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    ready(path, listener.getsockname()[1])
    return listener


def be_false(path, host):
    listener = listen(path, host)
    kept = []
    while True:
        connection = listener.accept()[0]
        kept.append(connection)
        if len(kept) % 3 == 1:
            threading.Thread(target=echo, args=(connection,), daemon=True).start()
        elif len(kept) % 3 == 2:
            connection.sendall(bytes(4096))


def echo(connection):
    try:
        while data := connection.recv(4096):
            connection.sendall(data)
    except OSError:
        pass


def frames(connection):
    """Whole ones, as they come."""
    data = b""
    while True:
        while len(data) >= HEAD and len(data) >= HEAD + int.from_bytes(data[12:16], "little") + TAG:
            size = HEAD + int.from_bytes(data[12:16], "little") + TAG
            yield data[:size]
            data = data[size:]
        more = connection.recv(1 << 16)
        if not more:
            return
        data += more


def pump(source, sink, said):
    try:
        for frame in frames(source):
            said.append(frame)
            sink.sendall(frame + frame)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def say_again(said):
    """The recorder's first words, more and more of them, to the director itself."""
    kept = []
    for count in range(1, 5):
        try:
            kept.append(socket.create_connection(director()))
            kept[-1].sendall(b"".join(said[:count]))
        except OSError:
            pass
    threading.Event().wait()


def be_middle(path, host):
    listener = listen(path, host)
    while True:
        recorder = listener.accept()[0]
        to_director = socket.create_connection(director())
        said = []
        threading.Thread(target=pump, args=(to_director, recorder, []), daemon=True).start()
        threading.Thread(target=pump, args=(recorder, to_director, said), daemon=True).start()
        threading.Thread(target=repeat_when_said, args=(said,), daemon=True).start()


def repeat_when_said(said):
    while len(said) < 4:
        threading.Event().wait(0.01)
    say_again(said)


if __name__ == "__main__":
    {"scan": scan, "false": be_false, "middle": be_middle}[sys.argv[1]](*sys.argv[2:])
