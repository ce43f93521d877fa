"""Runs a command in which sockets of other families than these are refused, as RestrictAddressFamilies= of systemd does.

usage: restrict-families.py 'AF_UNIX AF_INET' command word...
"""

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

socket_call = {"x86_64": 41, "aarch64": 198}[platform.machine()]
families = [getattr(socket, name) for name in sys.argv[1].split()]

load, equal, answer = 0x20, 0x15, 0x06
refuse, allow = 0x00050000 | errno.EAFNOSUPPORT, 0x7FFF0000
steps = [(load, 0, 0, 0), (equal, 0, 2 + len(families), socket_call), (load, 0, 0, 16)]
for at, family in enumerate(families):
    steps.append((equal, len(families) - at, 0, family))
steps += [(answer, 0, 0, refuse), (answer, 0, 0, allow)]

program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))


class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]


libc = ctypes.CDLL(None, use_errno=True)
no_new_privileges, set_seccomp, by_filter = 38, 22, 2
assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
rules = Filter(len(steps), ctypes.cast(program, ctypes.c_void_p))
assert libc.prctl(set_seccomp, by_filter, ctypes.byref(rules), 0, 0) == 0, os.strerror(ctypes.get_errno())
os.execvp(sys.argv[2], sys.argv[2:])
