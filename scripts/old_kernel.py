#!/usr/bin/env python3
"""Runs a command as on Linux 3.2: every later system call fails as one that the kernel does not have.

usage: old_kernel.py COMMAND...

A filter of seccomp, which the command's children inherit. x86-64 numbers its system calls in the order of their age.
What an older kernel does otherwise, such as flags that it does not know, is not imitated.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

FIRST_LATER_CALL = 312  # kcmp, of Linux 3.5
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
RETURN_ERRNO, RETURN_ALLOW = 0x00050000, 0x7FFF0000
LOAD_WORD, JUMP_GREATER_EQUAL, RETURN = 0x20, 0x35, 0x06  # of the kernel's packet filter


def instruction(code, if_true, if_false, value):
    return struct.pack("HBBI", code, if_true, if_false, value)


def forget_later_calls():
    code = b"".join([
        instruction(LOAD_WORD, 0, 0, 0),  # the number of the call
        instruction(JUMP_GREATER_EQUAL, 0, 1, FIRST_LATER_CALL),
        instruction(RETURN, 0, 0, RETURN_ERRNO | errno.ENOSYS),
        instruction(RETURN, 0, 0, RETURN_ALLOW),
    ])
    instructions = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HL", len(code) // 8, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0:
        sys.exit(f"old_kernel.py: this kernel takes no filter: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        sys.exit("old_kernel.py: it knows the system calls of x86-64 alone")
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    found = sys.argv[1:]
    forget_later_calls()
    os.execvp(found[0], found)
