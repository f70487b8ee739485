# SPDX-License-Identifier: Apache-2.0
"""Cases that are not answered well yet, by cause: one that is, and still stands here, fails the test. KNOWN is about
the library, KNOWN_PROGRAMS about the program."""

BY_CAUSE = {
}
KNOWN = {name: cause for cause, names in BY_CAUSE.items() for name in names}
KNOWN_PROGRAMS = {
}
