#!/usr/bin/env python3
"""A browser without a window: opens the address of a login and follows its redirects, as one in which the user agrees."""

import sys
import urllib.error
import urllib.request

try:
    urllib.request.urlopen(sys.argv[1], timeout=20).read()
except urllib.error.HTTPError as error:
    error.read()
